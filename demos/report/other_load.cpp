#include "demos/report/other_load.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <unistd.h>

#include "demos/words/language.h"

namespace lockstep::demos {

namespace {

// Speeds that differ by less than 5 % are called equal, so less load than that changes no verdict.
constexpr double busyShare = 0.05;
// The system counts in ticks of 10 ms: in a short run, a few of them are no evidence.
constexpr double leastBusySeconds = 0.1;
// The average covers a minute, in which much may have ended.
constexpr double busyAverageShare = 0.25;

std::optional<CpuTicks> readCpuTicks() {
    std::ifstream file("/proc/stat");
    std::string line;
    std::getline(file, line);
    return cpuTicksFromText(line);
}

double ownCpuSeconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::size_t allCores() { return static_cast<std::size_t>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L)); }

} // namespace

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

bool OtherLoad::busy() const {
    return fromAverage ? share > busyAverageShare : share > busyShare && seconds > leastBusySeconds;
}

std::optional<OtherLoad> otherLoad(const CpuTicks& before, const CpuTicks& after, double ownTicks,
                                   std::size_t cores, double ticksPerSecond) {
    const double all = after.all - before.all;
    if (all <= 0) return std::nullopt;
    const double others = std::clamp(after.busy - before.busy - ownTicks, 0.0, all);
    const double share = others / all;
    return OtherLoad{share, share * static_cast<double>(cores), cores, others / ticksPerSecond, false};
}

OtherLoad otherLoad(double loadAverage, std::size_t cores) {
    const double share = std::min(loadAverage / static_cast<double>(cores), 1.0);
    return {share, share * static_cast<double>(cores), cores, 0, true};
}

LoadWatch::LoadWatch() : before_(readCpuTicks()), ownBefore_(ownCpuSeconds()) {
    if (double average = 0; getloadavg(&average, 1) == 1) average_ = average;
}

std::optional<OtherLoad> LoadWatch::load() const {
    if (before_) {
        const auto ticksPerSecond = static_cast<double>(sysconf(_SC_CLK_TCK));
        const std::optional<CpuTicks> after = readCpuTicks();
        const double own = (ownCpuSeconds() - ownBefore_) * ticksPerSecond;
        if (after)
            if (const auto load = otherLoad(*before_, *after, own, allCores(), ticksPerSecond)) return load;
    }
    if (!average_) return std::nullopt;
    return otherLoad(*average_, allCores());
}

std::string busyText(const std::optional<OtherLoad>& load) {
    if (!load || !load->busy()) return {};
    if (load->fromAverage)
        return translatedFormat("before the run, other processes used about {:.1f} of {} cores; if they "
                                "still did, the times are too long",
                                load->cores, load->allCores);
    return translatedFormat("the machine was busy: other processes used {:.1f} of {} cores during the "
                            "run, so its times may be too long",
                            load->cores, load->allCores);
}

std::string otherLoadText(const std::optional<OtherLoad>& load) {
    const std::string text = busyText(load);
    return text.empty() ? "" : "warning: " + text + "\n";
}

nlohmann::ordered_json otherLoadJson(const std::optional<OtherLoad>& load) {
    if (!load) return nullptr;
    return {{"share", load->share},
            {"cores", load->cores},
            {"all_cores", load->allCores},
            {"busy", load->busy()},
            {"measured_by", load->fromAverage ? "load_average" : "cpu_time"}};
}

} // namespace lockstep::demos
