#include "engine/run/team_sizing.h"

#include <algorithm>

namespace lockstep {

namespace {

constexpr std::uint64_t mostSteps = 4096;
constexpr double longestStretch = 0.02; // seconds
constexpr double trialSeconds = 0.003;
constexpr double leastPause = 0.05;
constexpr double stepsOfPause =
    16; // a trial is at least one step: long steps must not be trials every other time
constexpr double pauseGrowth = 32;     // the longest pause, in shortest ones
constexpr double clearlyFaster = 0.95; // share of the other's time: a team changes only for a clear gain
constexpr double suddenlySlower = 1.3;

} // namespace

double TeamSizing::shortestPause() const { return std::max(leastPause, stepsOfPause * secondsPerStep_); }

TeamSizing::Stretch TeamSizing::next() const {
    if (most_ == 1) return {1, mostSteps};
    const double seconds = trying() ? trialSeconds : stretchSeconds_;
    const double steps = secondsPerStep_ == 0 ? 1 : seconds / secondsPerStep_;
    return {trial_, static_cast<std::uint64_t>(std::clamp(steps, 1.0, static_cast<double>(mostSteps)))};
}

void TeamSizing::took(std::uint64_t steps, double seconds) {
    if (most_ == 1 || steps == 0) return;
    const double perStep = seconds / static_cast<double>(steps);
    if (trying()) {
        if (perStep < clearlyFaster * secondsPerStep_) {
            team_ = trial_; // try further in the same direction soon
            secondsPerStep_ = perStep;
            stretchSeconds_ = trialSeconds;
            pause_ = shortestPause();
            reach_ = 1;
        } else {
            trial_ = team_;
            fewer_ = !fewer_;
            // If two cores are taken, leaving out one thread gains nothing: try two the next time.
            if (fewer_ || team_ == most_) reach_ = 2 * reach_ < most_ ? 2 * reach_ : 1;
            pause_ = std::clamp(2 * pause_, shortestPause(), pauseGrowth * shortestPause());
        }
        untilTrial_ = pause_;
        sinceTrial_ = 0;
        return;
    }
    // Another program takes a core without notice: start a trial at once, unless one was just made.
    sinceTrial_ += seconds;
    if (secondsPerStep_ > 0 && perStep > suddenlySlower * secondsPerStep_) {
        pause_ = shortestPause();
        untilTrial_ = pause_ - sinceTrial_;
        fewer_ = true;
        stretchSeconds_ = trialSeconds;
    }
    secondsPerStep_ = secondsPerStep_ == 0 ? perStep : 0.5 * (secondsPerStep_ + perStep);
    stretchSeconds_ = std::min(1.5 * stretchSeconds_, longestStretch);
    untilTrial_ -= seconds;
    if (untilTrial_ <= 0) beginTrial();
}

void TeamSizing::beginTrial() {
    if (team_ == 1) fewer_ = false;
    if (team_ == most_) fewer_ = true;
    trial_ = fewer_ ? team_ - std::min(reach_, team_ - 1) : std::min(team_ + reach_, most_);
}

} // namespace lockstep
