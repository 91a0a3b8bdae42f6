#include "engine/platform/interrupt.h"

namespace lockstep::platform {

namespace {

volatile std::sig_atomic_t seen = 0;

constexpr int interrupts[] = {SIGINT, SIGTERM, SIGHUP};

void note(int signal) {
    seen = signal;
    if (signal != SIGHUP) std::signal(signal, SIG_DFL);
}

} // namespace

InterruptGuard::InterruptGuard() {
    seen = 0;
    for (int i = 0; i < 3; ++i) previous_[i] = std::signal(interrupts[i], note);
    if (previous_[2] == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

InterruptGuard::~InterruptGuard() {
    for (int i = 0; i < 2; ++i) std::signal(interrupts[i], previous_[i]);
    // The terminal's second one may come at the very end.
    std::signal(SIGHUP, seen == SIGHUP ? SIG_IGN : previous_[2]);
}

int InterruptGuard::exitCode() const { return seen == 0 ? 0 : 128 + static_cast<int>(seen); }

} // namespace lockstep::platform
