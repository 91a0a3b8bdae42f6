#include "engine/platform/topology.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <string>

namespace lockstep::platform {

namespace {

namespace fs = std::filesystem;

// Between cores of one kind the highest clocks differ by up to 6 %, the slower kind has at most 81 %.
constexpr double fastShare = 0.85;

std::string firstLine(const fs::path& file) {
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    return line;
}

/// 0: not known.
double speedOf(const fs::path& cpu) {
    for (const char* file : {"cpu_capacity", "cpufreq/cpuinfo_max_freq"}) {
        double speed = 0;
        if (std::ifstream stream(cpu / file); stream >> speed && speed > 0) return speed;
    }
    return 0;
}

} // namespace

CoreCount countCores(const fs::path& cpus, std::span<const std::size_t> usable) {
    std::map<std::string, double> cores; // speeds, by what siblings have in common
    double fastest = 0;
    for (const std::size_t number : usable) {
        const fs::path cpu = cpus / ("cpu" + std::to_string(number));
        std::string core = firstLine(cpu / "topology/thread_siblings_list");
        if (core.empty()) core = "cpu" + std::to_string(number);
        double& speed = cores[core];
        speed = std::max(speed, speedOf(cpu));
        fastest = std::max(fastest, speed);
    }
    const auto fast = [&](const auto& core) {
        return core.second == 0 || core.second >= fastShare * fastest;
    };
    const auto count = static_cast<std::size_t>(std::ranges::count_if(cores, fast));
    return {std::max<std::size_t>(cores.size(), 1), std::max<std::size_t>(count, 1)};
}

} // namespace lockstep::platform
