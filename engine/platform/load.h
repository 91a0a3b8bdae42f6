// How much of the processors was used, and by whom.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace lockstep::platform {

/// Processor time of all cores since the start of the system, in ticks of the system's clock.
struct CpuTicks {
    double busy = 0; ///< includes interrupts, and what a hypervisor gave to other virtual machines ("steal")
    double all = 0;  ///< busy and idle
};

/// The counters now; empty if the system has none.
std::optional<CpuTicks> cpuTicks();

/// Of those counters.
double ticksPerSecond();

/// Reads the first line of Linux' /proc/stat; empty if `procStat` does not begin with it.
std::optional<CpuTicks> cpuTicksFromText(std::string_view procStat);

/// Processor time of this process so far, of all its threads.
double ownCpuSeconds();

/// The mean number of processes that wanted a core during the last minute; empty if the system does not
/// count.
std::optional<double> loadAverage();

/// Logical processors of the machine.
std::size_t machineProcessors();

} // namespace lockstep::platform
