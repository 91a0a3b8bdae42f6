// Decides when to stop restarting a device or surface that keeps getting lost.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>

namespace lockstep::demos {

/// Counts losses of one kind, of the device or of the window's surface.
class LossLimit {
  public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t most = 3;
    static constexpr std::chrono::minutes within{1};

    /// Counts one more; true when it is one too many.
    bool exceededBy(Clock::time_point loss);

  private:
    std::deque<Clock::time_point> losses_;
};

} // namespace lockstep::demos
