// A race that is over, shown again on one clock for all lanes, from the steps and times that it recorded.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include "demos/exhibits/race/race_model.h"

namespace lockstep::demos {

/// Steps that the lane had done after `seconds` of training: between two records, in proportion.
double stepsAfter(const LaneResult& lane, double seconds);

/// What the lane showed after `seconds` of training; test losses and accuracies are left out.
LaneSnapshot snapshotAfter(const LaneResult& lane, double seconds);

/// 0 to 1: how far lane `index` had come after `seconds`. The way is as long as the steps it ran, and where
/// time ends the race, as those of the lane that ran the most.
double shareAfter(const RaceRun& run, std::size_t index, double seconds);

/// How far a lane had come when the fastest one finished, on the basis on which the two are compared.
struct LaneGap {
    std::size_t fastest = 0; ///< its index
    double share = 0;        ///< of the way, 0 to 1
    bool byRates = false;    ///< rates were timed beyond the finish line, too: the clock up to it says less
};
/// Empty where there is nothing to compare, and for the fastest lane.
std::optional<LaneGap> gapOf(const RaceRun& run, std::size_t index);

/// Whether there is a race to be shown: lanes that ran at their own pace to the end.
bool canReplay(const RaceRun& run);

/// The clock of a race that is shown again.
class RaceReplay {
  public:
    static constexpr double shortest =
        3; ///< seconds to watch of the fastest lane, while that is not too slow
    static constexpr double longest = 12; ///< a race of so many seconds is not slowed down

    void start(const RaceRun& run);
    void stop() { playing_ = false; }
    void advance(double wallSeconds);
    bool playing() const { return playing_; }
    /// The lane as it is or, while this plays, as it was.
    LaneSnapshot shown(const LaneResult& lane) const {
        return playing_ ? snapshotAfter(lane, seconds_) : lane.end;
    }
    double length() const { return end_ * stretch_; } ///< seconds to watch
    double seconds() const { return seconds_; }       ///< of training
    double stretch() const { return stretch_; }       ///< seconds shown for a second of training

  private:
    bool playing_ = false;
    double seconds_ = 0;
    double end_ = 0;
    double stretch_ = 1;
};

} // namespace lockstep::demos
