// What a race looks like while it runs: a live bar per lane on a terminal, sparse plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "engine/train/race.h"

namespace lockstep::demos {

/// How progress can be shown on a stream.
struct Terminal {
    bool live = false;   ///< lines can be drawn again
    bool colour = false; ///< and in colours (not with NO_COLOR set)
    std::size_t width = 80;
};
Terminal terminalOf(std::FILE* stream);

/// "gpu:best  [######----]  60 %  step 281  loss 0.4312  30.8k samples/s  0:12 left". `width` is what the
/// line may take. Lanes that are not running say what they do instead.
std::string progressLine(const std::string& lane, const LaneSnapshot& snapshot, std::size_t laneWidth,
                         std::size_t width);

class Progress {
  public:
    /// `quiet` shows nothing at all. Writes to standard error, so that results can be redirected.
    Progress(Race& race, bool quiet);
    /// To be called several times per second.
    void update();
    /// The last picture, once the race is over.
    void finish();

  private:
    void drawLive();
    void printNews();

    using Clock = std::chrono::steady_clock;
    struct Printed {
        LaneStatus status = LaneStatus::waiting;
        double progress = 0;
        Clock::time_point time;
    };

    Race& race_;
    bool quiet_;
    Terminal terminal_;
    std::size_t laneWidth_ = 0;
    std::size_t drawnLines_ = 0;
    std::vector<Printed> printed_; // per lane, what its last plain line said
};

} // namespace lockstep::demos
