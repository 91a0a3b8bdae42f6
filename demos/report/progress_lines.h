// Lanes while they run: a live bar for each on a terminal, sparse plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "engine/run/lane.h"

namespace lockstep::demos {

/// How progress can be shown on a stream.
struct Terminal {
    bool live = false;   ///< lines can be drawn again
    bool colour = false; ///< and in colours (not with NO_COLOR set)
    std::size_t width = 80;
};
Terminal terminalOf(std::FILE* stream);

/// What there is to say about a lane at the moment.
struct LaneProgress {
    std::string title;
    bool gpu = false;
    LaneStatus status = LaneStatus::waiting;
    bool begun = false;  ///< something has been trained
    double progress = 0; ///< share of the way
    std::string numbers; ///< "step 281  mean loss 0.4312  30.8k samples/s  test 83 %"
    std::string brief;   ///< the same in less space
};

/// "gpu:best  [######----]   60 %  step 281  mean loss 0.4312". `width` is what the line may take.
std::string progressLine(const LaneProgress& lane, std::size_t laneWidth, std::size_t width);

/// "  0:12 left" of a lane that runs; empty where that is not known.
std::string timeLeft(LaneStatus status, double trainingSeconds, double progress);

class ProgressLines {
  public:
    /// `quiet` shows nothing at all. Writes to standard error, so that results can be redirected.
    explicit ProgressLines(bool quiet);
    /// To be called several times per second with the same lanes, and once when all is over.
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
    std::vector<Printed> printed_; // per lane, what its last plain line said
};

} // namespace lockstep::demos
