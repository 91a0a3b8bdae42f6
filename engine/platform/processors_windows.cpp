#include "engine/platform/processors.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <thread>

#include <windows.h>

namespace lockstep::platform {

namespace {

/// The processors of all groups, numbered one after the other: a group has at most 64.
constexpr std::size_t processorsOfGroup = 64;

/// EfficiencyClass, its second byte; headers of 2022 lack the name.
unsigned efficiencyClass(const PROCESSOR_RELATIONSHIP& core) {
    return reinterpret_cast<const unsigned char*>(&core)[1];
}

/// THREAD_POWER_THROTTLING_STATE, which headers of 2022 lack.
struct ThrottlingState {
    ULONG version = 1;
    ULONG controlled = 1; // THREAD_POWER_THROTTLING_EXECUTION_SPEED
    ULONG throttled = 0;  // never
};

} // namespace

std::string processorName() {
    std::array<char, 256> name{};
    auto size = static_cast<DWORD>(name.size());
    if (RegGetValueA(HKEY_LOCAL_MACHINE, R"(HARDWARE\DESCRIPTION\System\CentralProcessor\0)",
                     "ProcessorNameString", RRF_RT_REG_SZ, nullptr, name.data(), &size) != ERROR_SUCCESS)
        return {};
    const std::string text = name.data();
    const std::size_t first = text.find_first_not_of(' ');
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

// Since Windows 11 a process may run on all groups; the mask that it was given concerns its own.
std::vector<std::size_t> usableProcessors() {
    std::vector<std::size_t> numbers;
    DWORD_PTR own = 0;
    DWORD_PTR all = 0;
    if (GetActiveProcessorGroupCount() == 1 && GetProcessAffinityMask(GetCurrentProcess(), &own, &all) != 0)
        for (std::size_t number = 0; number < processorsOfGroup; ++number)
            if ((own >> number & 1) != 0) numbers.push_back(number);
    if (numbers.empty()) {
        numbers.resize(std::max(std::thread::hardware_concurrency(), 1u));
        std::iota(numbers.begin(), numbers.end(), std::size_t{0});
    }
    return numbers;
}

// A core is fast if it is of the highest class of efficiency, as the system numbers them: 0 is the most
// efficient.
CoreCount usableCores(std::span<const std::size_t> usable) {
    DWORD bytes = 0;
    GetLogicalProcessorInformationEx(RelationProcessorCore, nullptr, &bytes);
    std::vector<std::byte> table(bytes);
    auto* const first = reinterpret_cast<SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX*>(table.data());
    if (bytes == 0 || GetLogicalProcessorInformationEx(RelationProcessorCore, first, &bytes) == 0)
        return {std::max<std::size_t>(usable.size(), 1), std::max<std::size_t>(usable.size(), 1)};

    std::vector<unsigned> classes; // of the cores that have a usable processor
    for (DWORD at = 0; at < bytes;) {
        const auto& entry = *reinterpret_cast<const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX*>(&table[at]);
        const GROUP_AFFINITY& mask = entry.Processor.GroupMask[0];
        const bool used = std::ranges::any_of(usable, [&mask](std::size_t number) {
            return number / processorsOfGroup == mask.Group &&
                   (mask.Mask >> number % processorsOfGroup & 1) != 0;
        });
        if (used) classes.push_back(efficiencyClass(entry.Processor));
        at += entry.Size;
    }
    if (classes.empty()) return {};
    const auto fast = std::ranges::count(classes, std::ranges::max(classes));
    return {classes.size(), static_cast<std::size_t>(fast)};
}

std::vector<DataCache> dataCaches() {
    DWORD bytes = 0;
    GetLogicalProcessorInformationEx(RelationCache, nullptr, &bytes);
    std::vector<std::byte> table(bytes);
    auto* const first = reinterpret_cast<SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX*>(table.data());
    if (bytes == 0 || GetLogicalProcessorInformationEx(RelationCache, first, &bytes) == 0) return {};
    std::vector<DataCache> caches;
    for (DWORD at = 0; at < bytes;) {
        const auto& entry = *reinterpret_cast<const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX*>(&table[at]);
        at += entry.Size;
        const CACHE_RELATIONSHIP& cache = entry.Cache;
        if (cache.Type != CacheInstruction && cache.GroupMask.Group == 0 && (cache.GroupMask.Mask & 1) != 0)
            caches.push_back({cache.Level, cache.CacheSize});
    }
    std::ranges::sort(caches, {}, &DataCache::level);
    return caches;
}

std::uint64_t machineMemory() {
    MEMORYSTATUSEX status{};
    status.dwLength = sizeof status;
    return GlobalMemoryStatusEx(&status) != 0 ? status.ullTotalPhys : 0;
}

// Large pages are locked in memory here, need a right that users lack, and cannot replace those in use.
void preferHugePages(const void*, std::size_t) {}

void runAtFullSpeed() {
    ThrottlingState state;
    constexpr auto powerThrottling = static_cast<THREAD_INFORMATION_CLASS>(3);
    SetThreadInformation(GetCurrentThread(), powerThrottling, &state, sizeof(state));
}

} // namespace lockstep::platform
