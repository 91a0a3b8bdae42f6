#include "engine/platform/load.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace lockstep::platform {

std::optional<CpuTicks> cpuTicks() {
    std::ifstream file("/proc/stat");
    std::string line;
    std::getline(file, line);
    return cpuTicksFromText(line);
}

double ticksPerSecond() { return static_cast<double>(sysconf(_SC_CLK_TCK)); }

double ownCpuSeconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::optional<double> loadAverage() {
    double average = 0;
    return getloadavg(&average, 1) == 1 ? std::optional(average) : std::nullopt;
}

std::size_t machineProcessors() {
    return static_cast<std::size_t>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
}

} // namespace lockstep::platform
