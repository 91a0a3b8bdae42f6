#include "engine/platform/processors.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <string_view>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#include <sys/mman.h>
#endif

namespace lockstep::platform {

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
