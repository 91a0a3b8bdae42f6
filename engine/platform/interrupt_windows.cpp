#include "engine/platform/interrupt.h"

#include <atomic>

#include <windows.h>

namespace lockstep::platform {

namespace {

std::atomic<int> seen{0}; // exit code

// Runs on a thread of its own. TRUE: the system's own handler, which ends the program, is not called. After a
// closed console it ends the program when this returns, or some seconds later.
BOOL WINAPI noteConsole(DWORD event) {
    switch (event) {
    case CTRL_C_EVENT:
    case CTRL_BREAK_EVENT: return seen.exchange(130) == 0 ? TRUE : FALSE;
    case CTRL_CLOSE_EVENT:
    case CTRL_LOGOFF_EVENT:
    case CTRL_SHUTDOWN_EVENT:
        seen = 129;
        Sleep(INFINITE); // the program leaves main() in the meantime
        return TRUE;
    default: return FALSE;
    }
}

void noteSignal(int) { seen = 143; }

} // namespace

InterruptGuard::InterruptGuard() {
    seen = 0;
    SetConsoleCtrlHandler(noteConsole, TRUE);
    previous_[0] = std::signal(SIGTERM, noteSignal);
}

InterruptGuard::~InterruptGuard() {
    SetConsoleCtrlHandler(noteConsole, FALSE);
    std::signal(SIGTERM, previous_[0]);
}

int InterruptGuard::exitCode() const { return seen; }

} // namespace lockstep::platform
