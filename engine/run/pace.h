// How many steps a lane asks of its trainer at a time: few enough to react at once, many enough to cost
// nothing.
#pragma once

#include <cstdint>

namespace lockstep {

/// Starts at one step and at most doubles, so that a slow machine is never given seconds of work by surprise.
/// Times are seconds of any steady clock.
class Pace {
  public:
    /// Aims at `target` seconds of work per request.
    explicit Pace(double target = 0.02) : target_(target) {}

    /// Steps to ask for now.
    std::uint64_t steps() const { return steps_; }
    /// Begins a new measurement: at the start and after every interruption.
    void restart(std::uint64_t completed, double now);
    /// `completed` steps are done at `now`. A device that works behind the scenes may not have completed
    /// anything yet; the pace then stays as it is.
    void note(std::uint64_t completed, double now);

  private:
    double target_;
    std::uint64_t steps_ = 1;
    std::uint64_t markCompleted_ = 0;
    double markTime_ = 0;
};

} // namespace lockstep
