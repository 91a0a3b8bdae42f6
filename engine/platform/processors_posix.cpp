#include "engine/platform/processors.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#include <sys/mman.h>
#endif

namespace lockstep::platform {

namespace {

std::string firstWord(const std::string& file) {
    std::ifstream in(file);
    std::string word;
    in >> word;
    return word;
}

} // namespace

std::string processorName() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(':');
        if (!line.starts_with("model name") || colon == std::string::npos) continue;
        const std::size_t first = line.find_first_not_of(" \t", colon + 1);
        if (first == std::string::npos) continue;
        return line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
    }
    return {};
}

std::vector<std::size_t> usableProcessors() {
    std::vector<std::size_t> numbers;
#if defined(__linux__)
    cpu_set_t mask;
    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof(mask), &mask) == 0)
        for (std::size_t number = 0; number < CPU_SETSIZE; ++number)
            if (CPU_ISSET(number, &mask)) numbers.push_back(number);
#endif
    if (numbers.empty()) {
        numbers.resize(std::max(std::thread::hardware_concurrency(), 1u));
        std::iota(numbers.begin(), numbers.end(), std::size_t{0});
    }
    return numbers;
}

CoreCount usableCores(std::span<const std::size_t> usable) {
    return countCores("/sys/devices/system/cpu", usable);
}

std::vector<DataCache> dataCaches() {
    std::vector<DataCache> caches;
    for (int index = 0;; ++index) {
        const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
        const std::string level = firstWord(folder + "level");
        if (level.empty()) return caches;
        if (firstWord(folder + "type") == "Instruction") continue;
        std::istringstream size(firstWord(folder + "size")); // "32K"
        std::uint64_t number = 0;
        char unit = 0;
        if (size >> number >> unit && (unit == 'K' || unit == 'M'))
            caches.push_back({static_cast<unsigned>(level.front() - '0'), number << (unit == 'K' ? 10 : 20)});
    }
}

std::uint64_t machineMemory() {
    std::ifstream file("/proc/meminfo");
    std::string name;
    std::uint64_t kibibytes = 0;
    file >> name >> kibibytes;
    return file && name == "MemTotal:" ? kibibytes << 10 : 0;
}

void preferHugePages([[maybe_unused]] const void* data, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
    constexpr std::uintptr_t hugePage = std::uintptr_t{2} << 20;
    constexpr int collapseNow = 25; // MADV_COLLAPSE, Linux 6.1; the C library's headers may be older
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    const std::uintptr_t first = (begin + hugePage - 1) / hugePage * hugePage;
    const std::uintptr_t last = (begin + bytes) / hugePage * hugePage;
    if (last <= first) return;
    auto* pages = reinterpret_cast<void*>(first);
    // If the system refuses, the pages stay small.
    static_cast<void>(madvise(pages, last - first, MADV_HUGEPAGE));
    static_cast<void>(madvise(pages, last - first, collapseNow));
#endif
}

void runAtFullSpeed() {}

} // namespace lockstep::platform
