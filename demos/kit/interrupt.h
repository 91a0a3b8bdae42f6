// Ctrl-C as a wish to stop and still see the results.
#pragma once

#include <csignal>

namespace lockstep::demos {

/// While it lives, the first interrupt (SIGINT, SIGTERM) is only noted; a second one ends the program at
/// once.
class InterruptGuard {
  public:
    InterruptGuard() {
        seen_ = 0;
        previousInterrupt_ = std::signal(SIGINT, note);
        previousTerminate_ = std::signal(SIGTERM, note);
    }
    ~InterruptGuard() {
        std::signal(SIGINT, previousInterrupt_);
        std::signal(SIGTERM, previousTerminate_);
    }
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    /// The exit code for the signal that came (130 for SIGINT, 143 for SIGTERM); 0 while none has.
    int exitCode() const { return seen_ == 0 ? 0 : 128 + static_cast<int>(seen_); }

  private:
    static void note(int signal) {
        seen_ = signal;
        std::signal(signal, SIG_DFL);
    }

    inline static volatile std::sig_atomic_t seen_ = 0;
    void (*previousInterrupt_)(int);
    void (*previousTerminate_)(int);
};

} // namespace lockstep::demos
