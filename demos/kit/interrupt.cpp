#include "demos/kit/interrupt.h"

#include <csignal>

namespace lockstep::demos {

namespace {

volatile std::sig_atomic_t signalSeen = 0;

extern "C" void noteSignal(int signal) {
    signalSeen = signal;
    std::signal(signal, SIG_DFL);
}

} // namespace

InterruptGuard::InterruptGuard() {
    signalSeen = 0;
    previousInterrupt_ = std::signal(SIGINT, noteSignal);
    previousTerminate_ = std::signal(SIGTERM, noteSignal);
}

InterruptGuard::~InterruptGuard() {
    std::signal(SIGINT, previousInterrupt_);
    std::signal(SIGTERM, previousTerminate_);
}

int InterruptGuard::exitCode() const { return signalSeen == 0 ? 0 : 128 + static_cast<int>(signalSeen); }

} // namespace lockstep::demos
