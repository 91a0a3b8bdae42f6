// Ctrl-C as a wish to stop and still see the results.
#pragma once

namespace lockstep::demos {

/// While it lives, the first interrupt (SIGINT, SIGTERM) is only noted; a second one ends the program at
/// once.
class InterruptGuard {
  public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    /// The exit code for the signal that came (130 for SIGINT, 143 for SIGTERM); 0 while none has.
    int exitCode() const;

  private:
    void (*previousInterrupt_)(int);
    void (*previousTerminate_)(int);
};

} // namespace lockstep::demos
