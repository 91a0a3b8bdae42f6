// Progress of running lanes: a live bar for each on a terminal, occasional plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "demos/report/time_left.h"
#include "engine/run/lane.h"
#include "engine/run/race.h"

namespace lockstep::demos {

/// The current state of a lane.
struct LaneProgress {
    std::string title;
    bool gpu = false;
    LaneStatus status = LaneStatus::waiting;
    bool begun = false;  ///< has trained at least one step
    double progress = 0; ///< 0 to 1
    std::string numbers; ///< "step 281  mean loss 0.4312  30.8k samples/s  test 83 %"
    std::string brief;   ///< a shorter form
    double seconds = 0;  ///< that `progress` took; the time left follows the numbers. 0: it is not told
    double expected = 0; ///< seconds in all; 0: as `progress` tells
    bool tuning = false; ///< it compares kernels, and `progress` is of that
};

/// A lane that compares kernels. `numbers` says so, and why.
LaneProgress tuningProgress(const std::string& title, const TuningProgress& tuning);

/// The current state of a race's lanes.
std::vector<LaneProgress> progressOf(Race& race);

class ProgressLines {
  public:
    /// Writes to standard error, so that results can be redirected; nothing if `quiet`.
    explicit ProgressLines(bool quiet) : quiet_(quiet) {}
    /// Call several times per second with the same lanes, and once when all are done.
    void show(std::vector<LaneProgress> lanes);

  private:
    void drawLive(const std::vector<LaneProgress>& lanes);
    void printNews(const std::vector<LaneProgress>& lanes);

    using Clock = std::chrono::steady_clock;
    struct Printed {
        LaneStatus status = LaneStatus::waiting;
        double progress = 0;
        bool tuning = false;
        Clock::time_point time;
    };

    bool quiet_;
    std::size_t laneWidth_ = 0;
    std::size_t drawnLines_ = 0;
    std::vector<Printed> printed_; // per lane: its last plain line
    std::vector<TimeLeft> left_;   // per lane
};

} // namespace lockstep::demos
