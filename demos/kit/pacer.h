// Time as exhibits need it: a clock in seconds, and how many steps a frame is worth at a chosen speed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "engine/platform/clock.h"

namespace lockstep::demos {

using platform::secondsNow;

/// Seconds to pause after a look at what trains that took `seconds`, so that looks take `share` of the time.
constexpr double pauseAfter(double seconds, double share) { return seconds * (1 / share - 1); }

/// Counts the steps that become due while time passes; fractions of a step are kept for the next frame. A
/// machine that falls behind does not catch up: a call asks for a tenth of a second's steps at most.
class Pacer {
  public:
    /// steps/s; 0: flat out
    explicit Pacer(double stepsPerSecond = 0) : speed_(stepsPerSecond) {}

    void setSpeed(double stepsPerSecond) { *this = Pacer(stepsPerSecond); }
    double speed() const { return speed_; }
    bool flatOut() const { return speed_ == 0; }
    /// Drops the fraction of a step, as after a pause.
    void restart() { owed_ = 0; }

    /// The steps of the last `seconds`; `flatOut` where there is no speed to keep, as in a script's frames.
    std::uint64_t due(double seconds, std::uint64_t flatOut = 0) {
        if (speed_ == 0) return flatOut;
        owed_ += seconds * speed_;
        const double whole = std::floor(owed_);
        owed_ -= whole;
        return static_cast<std::uint64_t>(std::min(whole, std::max(1.0, speed_ * longestBacklog)));
    }

  private:
    static constexpr double longestBacklog = 0.1; // seconds

    double speed_;
    double owed_ = 0; // steps, below 1
};

} // namespace lockstep::demos
