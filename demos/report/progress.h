// Progress of running lanes: a live bar for each on a terminal, occasional plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "engine/run/lane.h"
#include "engine/run/race.h"

namespace lockstep::demos {

/// What a stream can display.
struct Terminal {
    bool live = false;   ///< lines can be redrawn
    bool colour = false; ///< colours work (and NO_COLOR is not set)
    std::size_t width = 80;
};
Terminal terminalOf(std::FILE* stream);

/// The current state of a lane.
struct LaneProgress {
    std::string title;
    bool gpu = false;
    LaneStatus status = LaneStatus::waiting;
    bool begun = false;  ///< has trained at least one step
    double progress = 0; ///< 0 to 1
    std::string numbers; ///< "step 281  mean loss 0.4312  30.8k samples/s  test 83 %"
    std::string brief;   ///< a shorter form
};

/// "gpu:best  [######----]   60 %  step 281  mean loss 0.4312". At most `width` columns.
std::string progressLine(const LaneProgress& lane, std::size_t laneWidth, std::size_t width);

/// "  0:12 left" for a running lane; empty if unknown.
std::string timeLeft(LaneStatus status, double trainingSeconds, double progress);

class ProgressLines {
  public:
    /// Writes to standard error, so that results can be redirected; nothing if `quiet`.
    explicit ProgressLines(bool quiet);
    /// Call several times per second with the same lanes, and once when all are done.
    void show(const std::vector<LaneProgress>& lanes);

  private:
    void drawLive(const std::vector<LaneProgress>& lanes);
    void printNews(const std::vector<LaneProgress>& lanes);

    using Clock = std::chrono::steady_clock;
    struct Printed {
        LaneStatus status = LaneStatus::waiting;
        double progress = 0;
        Clock::time_point time;
    };

    bool quiet_;
    Terminal terminal_;
    std::size_t laneWidth_ = 0;
    std::size_t drawnLines_ = 0;
    std::vector<Printed> printed_; // per lane: its last plain line
};

class Progress {
  public:
    /// Writes to standard error, so that results can be redirected; nothing if `quiet`.
    Progress(Race& race, bool quiet) : race_(race), lines_(quiet) {}
    /// Call several times per second, and once when the race is over.
    void update();

  private:
    Race& race_;
    ProgressLines lines_;
};

} // namespace lockstep::demos
