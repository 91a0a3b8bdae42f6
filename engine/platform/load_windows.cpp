#include "engine/platform/load.h"

#include <algorithm>

#include <windows.h>

namespace lockstep::platform {

namespace {

double ticksOf(const FILETIME& time) {
    return static_cast<double>(ULARGE_INTEGER{{time.dwLowDateTime, time.dwHighDateTime}}.QuadPart);
}

} // namespace

std::optional<CpuTicks> cpuTicks() {
    FILETIME idle, kernel, user; // the kernel's time includes the idle one
    if (GetSystemTimes(&idle, &kernel, &user) == 0) return std::nullopt;
    const double all = ticksOf(kernel) + ticksOf(user);
    return CpuTicks{all - ticksOf(idle), all};
}

double ticksPerSecond() { return 1e7; } // of FILETIME

double ownCpuSeconds() {
    FILETIME start, end, kernel, user;
    if (GetProcessTimes(GetCurrentProcess(), &start, &end, &kernel, &user) == 0) return 0;
    return (ticksOf(kernel) + ticksOf(user)) / ticksPerSecond();
}

std::optional<double> loadAverage() { return std::nullopt; }

std::size_t machineProcessors() {
    return std::max<std::size_t>(GetActiveProcessorCount(ALL_PROCESSOR_GROUPS), 1);
}

} // namespace lockstep::platform
