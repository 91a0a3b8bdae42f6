#include "demos/exhibits/mosaic/mosaic_lane.h"

#include <chrono>
#include <exception>
#include <utility>

namespace lockstep::demos {

namespace {

// Short, so that a frame's work on the same device comes to its turn and a pause is felt at once.
constexpr double sliceMilliseconds = 6;
// Looks take a fifth of a lane's time at most, and nobody sees more than 25 of them in a second.
constexpr double pauseFactor = 4;
constexpr double shortestPause = 0.04;

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace

MosaicLane::MosaicLane(Make make, MosaicLook look)
    : look_(std::move(look)), thread_([this, making = std::move(make)] { work(making); }) {}

MosaicLane::~MosaicLane() {
    stop();
    thread_.join();
}

template <class Change> void MosaicLane::wish(Change change) {
    {
        const std::lock_guard lock(mutex_);
        change(wishes_);
    }
    changed_.notify_all();
}

void MosaicLane::run() {
    wish([](Wishes& wishes) { wishes.run = true; });
}

void MosaicLane::pause() {
    wish([](Wishes& wishes) {
        wishes.look |= wishes.run;
        wishes.run = false;
    });
}

void MosaicLane::trainTo(std::uint64_t step) {
    wish([step](Wishes& wishes) { wishes.trainTo = step; });
}

void MosaicLane::trainBy(std::uint64_t networkSteps) {
    wish([networkSteps](Wishes& wishes) { wishes.trainBy += networkSteps; });
}

void MosaicLane::reset() {
    wish([this](Wishes& wishes) {
        wishes = {};
        wishes.reset = true;
        news_.shot.reset(); // of weights that are gone
    });
}

void MosaicLane::setLook(const MosaicLook& look) {
    wish([&](Wishes& wishes) {
        look_ = look;
        wishes.look = true;
    });
}

void MosaicLane::askWeights(std::size_t member) {
    wish([member](Wishes& wishes) { wishes.weightsOf = member; });
}

void MosaicLane::stop() {
    wish([](Wishes& wishes) { wishes.stop = true; });
}

MosaicNews MosaicLane::takeNews() {
    MosaicNews news;
    {
        const std::lock_guard lock(mutex_);
        news = std::exchange(news_, {});
    }
    changed_.notify_all(); // there is room for the next maps
    return news;
}

bool MosaicLane::busy() const {
    const std::lock_guard lock(mutex_);
    return !ended_ && !idle();
}

void MosaicLane::wait() const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return idle() || ended_ || news_.maps; });
}

// Maps that nobody has taken yet lie in one of the device's two pictures, those on the screen in the other.
bool MosaicLane::mayLook() const { return !news_.maps; }

MosaicLane::Wishes MosaicLane::nextWishes() {
    std::unique_lock lock(mutex_);
    const auto possible = [this] {
        Wishes wishes = wishes_;
        wishes.look &= mayLook();
        return wishes.any();
    };
    waiting_ = true;
    changed_.notify_all();
    changed_.wait(lock, possible);
    waiting_ = false;
    const Wishes next = wishes_;
    wishes_ = {};
    wishes_.run = next.run;
    wishes_.look = next.look;
    return next;
}

void MosaicLane::work(const Make& make) {
    try {
        population_ = make();
        {
            const std::lock_guard lock(mutex_);
            news_.machine = population_->machine();
        }
        while (fulfil(nextWishes())) {
        }
    } catch (const std::exception& error) {
        const std::lock_guard lock(mutex_);
        news_.error = error.what();
    }
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    changed_.notify_all();
}

/// False: it is over.
bool MosaicLane::fulfil(const Wishes& wishes) {
    PopulationParts& population = *population_;
    if (wishes.stop) return false;
    if (wishes.reset) population.reset();
    if (wishes.trainTo) population.trainTo(*wishes.trainTo);
    if (wishes.trainBy > 0) population.trainBy(wishes.trainBy);
    const bool atEnd = wishes.run && !population.advance(sliceMilliseconds);
    if (wishes.weightsOf) fetchWeights(*wishes.weightsOf);

    const bool changed = wishes.reset || wishes.trainTo || wishes.trainBy > 0 || atEnd;
    bool due = false;
    {
        const std::lock_guard lock(mutex_);
        if (atEnd) wishes_.run = false;
        wishes_.look |= changed;
        due = (wishes_.look || (wishes_.run && now() >= nextLook_)) && mayLook();
        if (due) wishes_.look = false;
    }
    if (due) look();
    return true;
}

void MosaicLane::fetchWeights(std::size_t member) {
    const MemberResult result = population_->results()[member];
    MemberWeights weights{member, result.steps, {}};
    if (!result.diverged) weights.parameters = population_->parameters(member);
    const std::lock_guard lock(mutex_);
    news_.weights = std::move(weights);
}

void MosaicLane::look() {
    PopulationParts& population = *population_;
    MosaicLook how;
    {
        const std::lock_guard lock(mutex_);
        how = look_;
    }
    const double begin = now();
    MosaicShot shot;
    shot.results = population.results();
    shot.summary = population.summary(shot.results);
    shot.seconds = population.trainingSeconds();
    MosaicMaps maps{how.maps.width(), how.maps.height(shot.results.size()), {}, {}};
    if (how.onDevice) maps.device = population.decisionMapsOnDevice(how.maps);
    if (!maps.device) maps.words = population.decisionMaps(how.maps);
    const double end = now();
    const std::lock_guard lock(mutex_);
    if (!wishes_.reset) news_.shot = std::move(shot);
    news_.maps = std::move(maps);
    nextLook_ = end + std::max(pauseFactor * (end - begin), shortestPause);
}

} // namespace lockstep::demos
