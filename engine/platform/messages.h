// Waiting for a window's input, for a fraction of a frame.
#pragma once

namespace lockstep::platform {

/// Waits until this thread's windows have a message, at most for so many seconds, which the system's finest
/// timer counts. False at once where the window library's own waiting is as fine: on Windows, it is 15.6 ms
/// coarse.
bool waitForMessages(double seconds);

} // namespace lockstep::platform
