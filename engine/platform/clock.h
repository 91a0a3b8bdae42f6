// The clock by which everything on the host is timed.
#pragma once

#include <chrono>

namespace lockstep::platform {

/// Seconds on a clock that never goes back; only differences mean something.
inline double secondsNow() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace lockstep::platform
