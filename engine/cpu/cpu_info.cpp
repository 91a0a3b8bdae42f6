#include "engine/cpu/cpu_info.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#include <sys/mman.h>
#endif

#include "engine/net/names.h"

namespace lockstep {

namespace {

#if defined(__aarch64__)
constexpr const char* architecture = "AArch64";
constexpr const char* baselineVectors = "NEON";
#elif defined(__x86_64__)
constexpr const char* architecture = "x86-64";
constexpr const char* baselineVectors = "SSE2";
#else
constexpr const char* architecture = "unknown architecture";
constexpr const char* baselineVectors = "compiler's vectors";
#endif

std::string readCpuName() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(':');
        if (!line.starts_with("model name") || colon == std::string::npos) continue;
        const std::string_view name = trimmed(std::string_view(line).substr(colon + 1));
        if (!name.empty()) return std::string(name);
    }
    return std::string("processor (") + architecture + ")";
}

/// The numbers of those that this process may use; at least one.
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

} // namespace

std::string cpuName() {
    static const std::string name = readCpuName(); // frames of a window ask for it
    return name;
}

std::size_t usableCores() { return usableProcessors().size(); }

CoreCount usablePhysicalCores() { return countCores("/sys/devices/system/cpu", usableProcessors()); }

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

VectorLevel vectorLevel() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return VectorLevel::avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return VectorLevel::avx2;
#endif
    return VectorLevel::baseline;
}

const char* name(VectorLevel level) {
    switch (level) {
    case VectorLevel::avx512: return "AVX-512";
    case VectorLevel::avx2: return "AVX2";
    case VectorLevel::baseline: break;
    }
    return baselineVectors;
}

} // namespace lockstep
