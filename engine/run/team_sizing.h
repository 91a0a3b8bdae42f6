// How many threads of a team take part, where other programs want cores, too. A thread whose core was taken
// away keeps all others waiting at the next barrier, for milliseconds instead of microseconds: then a smaller
// team is the faster one. Nobody can be asked beforehand, so it is tried: now and then a few steps run with
// some threads more or fewer, and the faster team goes on.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep {

/// What it decides changes who computes, never what. Used by one thread.
class TeamSizing {
  public:
    explicit TeamSizing(std::size_t threads) : most_(threads), team_(threads), trial_(threads) {}

    /// A stretch of steps to be run, and by how many threads.
    struct Stretch {
        std::size_t threads = 1;
        std::uint64_t steps = 1;
    };
    Stretch next() const;
    /// How long the stretch took; it may have had fewer steps than next() said.
    void took(std::uint64_t steps, double seconds);

  private:
    bool trying() const { return trial_ != team_; }
    double shortestPause() const;
    void beginTrial();

    std::size_t most_;
    std::size_t team_;              ///< what has been the fastest
    std::size_t trial_;             ///< what runs now
    bool fewer_ = true;             ///< the direction of the next trial
    std::size_t reach_ = 1;         ///< and how far it goes
    double secondsPerStep_ = 0;     ///< of the team, lately; 0: not known
    double stretchSeconds_ = 0.001; ///< grows while all goes well
    double untilTrial_ = 0.02;      ///< seconds
    double pause_ = 0.05;           ///< between two trials; grows while they bring nothing
    double sinceTrial_ = 0;         ///< seconds
};

} // namespace lockstep
