#include "demos/sound/sound.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>

#include "demos/kit/pacer.h"

#if defined(LOCKSTEP_OPENAL)
#include <AL/al.h>
#include <AL/alc.h>
#include <AL/alext.h>
#endif

namespace lockstep::demos {

namespace {

constexpr const char* levelWords =
    "Plays the race while it trains. The loss is the pitch: a quarter of it sounds an octave lower. Each "
    "step ticks; above 8 steps/s, the ticks become a purr.";

struct NamedLevel {
    const char* name;
    const char* words;
    float volume;
};

// In the order of Sound::levels.
constexpr NamedLevel levelTable[] = {{"Off", "Plays nothing.", 0},
                                     {"Quiet", levelWords, 0.1f},
                                     {"Medium", levelWords, 0.3f},
                                     {"Loud", levelWords, 1}};
static_assert(std::size(levelTable) == std::size(Sound::levels));

#if defined(LOCKSTEP_OPENAL)

/// The system's sound device, with a queue of blocks on their way to it. OpenAL's context is the process's:
/// there is one of these at a time.
class SoundDevice {
  public:
    /// Throws std::runtime_error.
    SoundDevice() {
        device_ = alcOpenDevice(nullptr);
        if (device_ == nullptr) throw std::runtime_error("The sound is off: no sound device can be opened.");
        context_ = alcCreateContext(device_, nullptr);
        alcMakeContextCurrent(context_);
        alGenSources(1, &source_);
        alGenBuffers(static_cast<ALsizei>(buffers_.size()), buffers_.data());
        if (context_ != nullptr && alGetError() == AL_NO_ERROR) {
            free_.assign(buffers_.begin(), buffers_.end());
            return;
        }
        close();
        throw std::runtime_error("The sound is off: the sound device takes no samples.");
    }
    ~SoundDevice() {
        alDeleteSources(1, &source_);
        alDeleteBuffers(static_cast<ALsizei>(buffers_.size()), buffers_.data());
        close();
    }
    SoundDevice(const SoundDevice&) = delete;
    SoundDevice& operator=(const SoundDevice&) = delete;

    /// Fills the queue. Throws std::runtime_error once the device is gone.
    void feed(RaceTune& tune) {
        takeBack();
        while (!free_.empty()) {
            std::array<float, 2 * RaceTune::frames> block;
            std::array<std::int16_t, block.size()> samples;
            tune.write(block);
            std::ranges::transform(block, samples.begin(), [](float sample) {
                return static_cast<std::int16_t>(std::lround(sample * 32767));
            });
            alBufferData(free_.back(), AL_FORMAT_STEREO16, samples.data(), sizeof samples,
                         RaceTune::sampleRate);
            alSourceQueueBuffers(source_, 1, &free_.back());
            free_.pop_back();
        }
        ALint state = 0;
        alGetSourcei(source_, AL_SOURCE_STATE, &state);
        if (state != AL_PLAYING) alSourcePlay(source_); // at first, or the queue has run dry
        ALCint connected = ALC_TRUE;
        if (alcIsExtensionPresent(device_, "ALC_EXT_disconnect") == ALC_TRUE)
            alcGetIntegerv(device_, ALC_CONNECTED, 1, &connected);
        if (connected == ALC_FALSE)
            throw std::runtime_error("The sound is off: the sound device is no longer there.");
    }

  private:
    void takeBack() {
        ALint played = 0;
        alGetSourcei(source_, AL_BUFFERS_PROCESSED, &played);
        for (; played > 0; --played) alSourceUnqueueBuffers(source_, 1, &free_.emplace_back());
    }
    void close() {
        alcMakeContextCurrent(nullptr);
        if (context_ != nullptr) alcDestroyContext(context_);
        alcCloseDevice(device_);
    }

    ALCdevice* device_ = nullptr;
    ALCcontext* context_ = nullptr;
    ALuint source_ = 0;
    std::array<ALuint, 6> buffers_{}; // 120 ms: a busy processor may let the thread wait
    std::vector<ALuint> free_;
};

#else

struct SoundDevice {
    SoundDevice() { throw std::runtime_error("The sound is off: this program was built without OpenAL."); }
    void feed(RaceTune&) {}
};

#endif

} // namespace

Sound::Sound() = default;
Sound::~Sound() = default;

bool Sound::available() {
#if defined(LOCKSTEP_OPENAL)
    return true;
#else
    return false;
#endif
}

void Sound::setLevel(std::size_t level) {
    level_ = level;
    if (level_ > 0 && !worker_) worker_ = std::make_unique<Worker<Desk>>(work);
    if (worker_) worker_->with([&](Desk& desk) { desk.volume = levelTable[level].volume; });
}

void Sound::drawMenu(Ui& ui) {
    if (!available() || !ui.menu("Sound", "Lets you hear a race: the first lane on the left, the last one on "
                                          "the right."))
        return;
    for (std::size_t i = 0; i < std::size(levelTable); ++i)
        if (ui.menuItem(levelTable[i].name, levelTable[i].words, nullptr, i == level_)) setLevel(i);
    ImGui::EndMenu();
}

void Sound::update(Ui& ui, const Exhibit& shown) {
    if (!worker_) return;
    if (news()) {
        const std::string problem =
            worker_->takeNews([](Desk& desk) { return std::exchange(desk.problem, {}); });
        setLevel(0);
        ui.say(Severity::warning, problem, "Choose View, Sound to try again.");
    }
    if (level_ == 0) return;
    const std::vector<LaneSnapshot> shots = shown.lanesShown();
    std::vector<HeardLane> lanes;
    lanes.reserve(shots.size());
    for (const LaneSnapshot& shot : shots)
        lanes.push_back({shot.loss, shot.step, sideOf(lanes.size(), shots.size())});
    worker_->with([&](Desk& desk) { desk.lanes = std::move(lanes); });
}

void Sound::work(Worker<Desk>& worker) {
    while (worker.next([](const Desk& desk) { return desk.wanted(); })) try {
            play(worker);
        } catch (const std::exception& error) {
            worker.with([&](Desk& desk) {
                desk.problem = error.what();
                desk.volume = 0;
            });
        }
}

// Until the sound is off, and for as long as it fades.
void Sound::play(Worker<Desk>& worker) {
    constexpr std::chrono::milliseconds pause{10}; // half a block
    constexpr double fadeSeconds = 0.3;            // the queue, the ramp, and what the system keeps back
    SoundDevice device;
    RaceTune tune;
    std::vector<HeardLane> lanes;
    for (double on = secondsNow(); secondsNow() < on + fadeSeconds; std::this_thread::sleep_for(pause)) {
        // Nothing at the program's end.
        const std::optional<Desk> desk = worker.next([](const Desk& now) { return std::optional(now); });
        if (desk) lanes = desk->lanes;
        if (desk && desk->wanted()) on = secondsNow();
        tune.hear(lanes, desk ? desk->volume : 0);
        device.feed(tune);
    }
}

} // namespace lockstep::demos
