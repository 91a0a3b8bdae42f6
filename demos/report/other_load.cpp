#include "demos/report/other_load.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/words/language.h"

namespace lockstep::demos {

namespace {

// Speeds that differ by less than 5 % are called equal, so less load than that changes no verdict.
constexpr double busyShare = 0.05;
// The system counts in ticks of 10 ms: in a short run, a few of them are no evidence.
constexpr double leastBusySeconds = 0.1;
// The average covers a minute, in which much may have ended.
constexpr double busyAverageShare = 0.25;

} // namespace

bool OtherLoad::busy() const {
    return fromAverage ? share > busyAverageShare : share > busyShare && seconds > leastBusySeconds;
}

std::optional<OtherLoad> otherLoad(const platform::CpuTicks& before, const platform::CpuTicks& after,
                                   double ownTicks, std::size_t cores, double ticksPerSecond) {
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

LoadWatch::LoadWatch()
    : before_(platform::cpuTicks()), ownBefore_(platform::ownCpuSeconds()),
      average_(platform::loadAverage()) {}

std::optional<OtherLoad> LoadWatch::load() const {
    const std::size_t cores = platform::machineProcessors();
    if (before_) {
        const double ticksPerSecond = platform::ticksPerSecond();
        const std::optional<platform::CpuTicks> after = platform::cpuTicks();
        const double own = (platform::ownCpuSeconds() - ownBefore_) * ticksPerSecond;
        if (after)
            if (const auto load = otherLoad(*before_, *after, own, cores, ticksPerSecond)) return load;
    }
    if (!average_) return std::nullopt;
    return otherLoad(*average_, cores);
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
