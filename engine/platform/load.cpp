#include "engine/platform/load.h"

#include <array>
#include <numeric>
#include <sstream>
#include <string>

namespace lockstep::platform {

std::optional<CpuTicks> cpuTicksFromText(std::string_view procStat) {
    std::istringstream line{std::string(procStat.substr(0, procStat.find('\n')))};
    std::string label;
    line >> label;
    // user, nice, system, idle, waiting for a disk, interrupts, soft interrupts, steal. Old kernels lack the
    // last ones. The times of guests, which follow, are part of user and nice.
    std::array<double, 8> ticks{};
    constexpr std::size_t idle = 3;
    constexpr std::size_t waiting = 4;
    std::size_t count = 0;
    while (count < ticks.size() && line >> ticks[count]) ++count;
    if (label != "cpu" || count <= idle) return std::nullopt;
    const double all = std::accumulate(ticks.begin(), ticks.end(), 0.0);
    return CpuTicks{all - ticks[idle] - ticks[waiting], all};
}

} // namespace lockstep::platform
