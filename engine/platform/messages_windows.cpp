#include "engine/platform/messages.h"

#include <cmath>

#include <windows.h>

namespace lockstep::platform {

namespace {

/// CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, which headers of 2022 lack: since Windows 10 of 2018.
constexpr DWORD fineTimer = 2;

struct Timer {
    HANDLE handle = CreateWaitableTimerExW(nullptr, nullptr, fineTimer, TIMER_ALL_ACCESS);
    Timer() {
        if (handle == nullptr) handle = CreateWaitableTimerExW(nullptr, nullptr, 0, TIMER_ALL_ACCESS);
    }
    ~Timer() {
        if (handle != nullptr) CloseHandle(handle);
    }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
};

} // namespace

bool waitForMessages(double seconds) {
    thread_local const Timer timer;
    LARGE_INTEGER due;
    due.QuadPart = -std::llround(seconds * 1e7); // in units of 100 ns; negative: from now
    if (timer.handle == nullptr || SetWaitableTimer(timer.handle, &due, 0, nullptr, nullptr, FALSE) == 0)
        return false;
    MsgWaitForMultipleObjectsEx(1, &timer.handle, INFINITE, QS_ALLINPUT, MWMO_INPUTAVAILABLE);
    return true;
}

} // namespace lockstep::platform
