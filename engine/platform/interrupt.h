// Ctrl-C, and a closed terminal, as a wish to stop and still see the results.
#pragma once

#include <csignal>

namespace lockstep::platform {

/// While it lives, the first interrupt is only noted; a second one ends the program at once. Interrupts are
/// SIGINT, SIGTERM and SIGHUP, on Windows Ctrl-C, Ctrl-Break and a console that closes. A second SIGHUP does
/// not end it, nor after the guard has gone: a terminal that closes may send two. Where SIGHUP is ignored, as
/// under nohup, it stays ignored. Windows ends a program some seconds after its console was closed. One at a
/// time; keep it until the results are written.
class InterruptGuard {
  public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    /// The exit code for the interrupt that came (130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP or a closed
    /// console); 0 while none has.
    int exitCode() const;

  private:
    using Handler = void (*)(int);
    Handler previous_[3] = {};
};

} // namespace lockstep::platform
