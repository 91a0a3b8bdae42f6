// How many threads of a team take part while other programs want cores, too. A thread whose core was taken
// away keeps all others waiting at the next barrier, for milliseconds instead of microseconds; then a smaller
// team is faster. No system call tells in advance, so it is tried: now and then a few steps run with some
// threads more or fewer, and the faster team goes on.
//
// This is another question than a WorkSizer's: not how many steps take a given time, but which of two teams
// takes less time for a step. The length of a trial is a fixed time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace lockstep {

/// Its decisions change which threads compute, never the results. Used by one thread.
class TeamSizing {
  public:
    /// first   threads to begin with; 0: all
    explicit TeamSizing(std::size_t threads, std::size_t first = 0)
        : most_(threads), team_(first == 0 ? threads : std::min(first, threads)), trial_(team_),
          fewer_(team_ == most_) {}

    /// Steps to run next, and by how many threads.
    struct Stretch {
        std::size_t threads = 1;
        std::uint64_t steps = 1;
    };
    Stretch next() const;
    /// How long the stretch took. It may have had fewer steps than next() asked for.
    void took(std::uint64_t steps, double seconds);

  private:
    bool trying() const { return trial_ != team_; }
    double shortestPause() const;
    void beginTrial();

    std::size_t most_;
    std::size_t team_;              ///< the fastest so far
    std::size_t trial_;             ///< the team that runs now
    bool fewer_;                    ///< the direction of the next trial
    std::size_t reach_ = 1;         ///< and how far it goes
    double secondsPerStep_ = 0;     ///< recent mean of the team; 0: not known
    double stretchSeconds_ = 0.001; ///< grows while nothing changes
    double untilTrial_ = 0.02;      ///< seconds
    double pause_ = 0.05;           ///< between two trials; grows while they gain nothing
    double sinceTrial_ = 0;         ///< seconds
};

} // namespace lockstep
