// When to stop starting a lost device anew.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <string>

namespace lockstep::demos {

/// Counts losses, so that a device that is lost again and again is not started anew for ever.
class LossLimit {
  public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t most = 3;
    static constexpr std::chrono::minutes within{1};

    /// Throws gpu::DeviceLostError when it is one too many; says so, and what the last one said.
    void note(const std::string& loss, Clock::time_point now);

  private:
    std::deque<Clock::time_point> losses_;
};

} // namespace lockstep::demos
