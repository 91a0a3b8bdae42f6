#include "demos/sound/race_tune.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lockstep::demos {

namespace {

constexpr int scale[] = {0, 3, 5, 7, 10}; // semitones of A C D E G within their octave
constexpr int notesPerOctave = 5;
constexpr int lowestNote = -3 * notesPerOctave; // counted on the scale from A4
constexpr int highestNote = 2 * notesPerOctave;

constexpr double eachTicks = 8;        // steps/s, up to which each step ticks
constexpr double ticksPerDoubling = 2; // per second
constexpr double mostTicks = 30;       // per second

constexpr double frameSeconds = 1.0 / RaceTune::sampleRate;
constexpr double glideSeconds = 0.03; // from note to note
constexpr double rateSeconds = 0.3;   // that the steps' rate is averaged over
constexpr double tickSeconds = 0.02;
constexpr float toneGain = 0.45f; // of a lane; with a tick it stays below 1
constexpr float tickGain = 0.4f;

/// Of one period, between -1 and 1: each of the two timbres has a zero at its ends and its middle only.
double wave(double phase, bool hollow) {
    const double angle = 2 * std::numbers::pi * phase;
    if (hollow) return 0.85 * (std::sin(angle) + std::sin(3 * angle) / 3 + std::sin(5 * angle) / 5);
    return 0.7 * (std::sin(angle) + std::sin(2 * angle) / 2 + std::sin(3 * angle) / 4);
}

/// `gain`, one frame nearer to where it is wanted.
float ramped(float gain, float wanted) {
    constexpr auto step = static_cast<float>(frameSeconds / RaceTune::rampSeconds);
    return gain + std::clamp(wanted - gain, -step, step);
}

} // namespace

float sideOf(std::size_t index, std::size_t lanes) {
    return lanes < 2 ? 0 : 2 * static_cast<float>(index) / static_cast<float>(lanes - 1) - 1;
}

int noteOf(double loss) {
    constexpr double octavesPerHalving = 0.5;
    const double wanted = loss > 0 ? notesPerOctave * octavesPerHalving * std::log2(loss) : lowestNote;
    const int note = static_cast<int>(std::round(std::clamp<double>(wanted, lowestNote, highestNote)));
    const int fromLowest = note - lowestNote;
    const int octave = fromLowest / notesPerOctave + lowestNote / notesPerOctave;
    return 12 * octave + scale[fromLowest % notesPerOctave];
}

double frequencyOf(int note) { return 440 * std::exp2(note / 12.0); }

double ticksPerSecond(double stepsPerSecond) {
    if (stepsPerSecond <= eachTicks) return stepsPerSecond;
    return std::min(mostTicks, eachTicks + ticksPerDoubling * std::log2(stepsPerSecond / eachTicks));
}

void RaceTune::hear(std::span<const HeardLane> lanes, float volume) {
    lanes_ = lanes.size();
    volume_ = volume;
    if (voices_.size() < lanes_) voices_.resize(lanes_);
    for (std::size_t i = 0; i < lanes_; ++i) {
        voices_[i].lane = lanes[i];
        voices_[i].hollow = i % 2 == 1;
    }
}

void RaceTune::write(std::span<float, 2 * frames> block) {
    std::ranges::fill(block, 0.0f);
    for (std::size_t i = 0; i < voices_.size(); ++i) {
        // Two lanes have a channel each; more of them share.
        const float share =
            volume_ * std::min(1.0f, 2 / static_cast<float>(std::max<std::size_t>(lanes_, 1)));
        const float gain = i < lanes_ ? share : 0;
        const float angle = std::numbers::pi_v<float> / 4 * (voices_[i].lane.side + 1); // of equal power
        voices_[i].add(block, gain * std::cos(angle), gain * std::sin(angle));
    }
    for (float& sample : block) sample = std::clamp(sample, -1.0f, 1.0f);
}

void RaceTune::Voice::countSteps() {
    const std::uint64_t before = steps.value_or(lane.steps);
    steps = lane.steps;
    if (lane.steps <= before) return; // none, or a new race
    if (trains()) {
        const auto made = static_cast<double>(lane.steps - before);
        const double weight = stepRate > 0 ? 1 - std::exp(-sinceStep / rateSeconds) : 1;
        stepRate += (made / sinceStep - stepRate) * weight;
        owed = stepRate > eachTicks ? 0 : owed + made;
    } else {
        stepRate = 0;
        owed = 1;
    }
    sinceStep = 0;
}

void RaceTune::Voice::add(std::span<float, 2 * frames> block, float leftWanted, float rightWanted) {
    countSteps();
    const double wanted = std::isfinite(lane.loss) ? frequencyOf(noteOf(lane.loss)) : 0;
    for (std::size_t i = 0; i < block.size(); i += 2) {
        left = ramped(left, leftWanted);
        right = ramped(right, rightWanted);
        const float sample = nextTone(wanted) + nextTick();
        block[i] += left * sample;
        block[i + 1] += right * sample;
        sinceStep += frameSeconds;
    }
}

float RaceTune::Voice::nextTone(double wanted) {
    tone = ramped(tone, trains() && wanted > 0 ? 1.0f : 0.0f);
    if (tone == 0) { // the next note does not glide from the last one
        frequency = phase = 0;
        return 0;
    }
    if (wanted > 0) frequency += (wanted - frequency) * (frequency > 0 ? frameSeconds / glideSeconds : 1);
    phase += frequency * frameSeconds;
    phase -= std::floor(phase);
    return toneGain * tone * static_cast<float>(wave(phase, hollow));
}

float RaceTune::Voice::nextTick() {
    const bool purrs = stepRate > eachTicks;
    toTick = std::min(1.0, toTick + std::max(eachTicks, ticksPerSecond(stepRate)) * frameSeconds);
    if (toTick == 1 && trains() && (purrs || owed >= 0.5)) {
        toTick = sinceTick = 0;
        owed = std::max(0.0, owed - 1);
    }
    sinceTick += frameSeconds;
    if (sinceTick >= tickSeconds) return 0;
    const double rest = 1 - sinceTick / tickSeconds;
    const double beat = std::sin(2 * std::numbers::pi * (hollow ? 1500 : 1100) * sinceTick);
    return tickGain * static_cast<float>(rest * rest * rest * beat);
}

} // namespace lockstep::demos
