// Which logical processors are cores of their own, and which of those are fast.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace lockstep::platform {

struct CoreCount {
    std::size_t physical = 1; ///< logical processors that share a core (SMT siblings) count once
    std::size_t fast = 1;     ///< of these, without the efficient cores of a hybrid processor

    bool operator==(const CoreCount&) const = default;
};

/// Counts the cores behind the logical processors `usable`. A core is fast if its speed is at least 85 % of
/// the fastest one's. Processors that the system says nothing about count as fast cores of their own; there
/// is at least one.
/// cpus   the folder that describes them, as Linux does in /sys/devices/system/cpu:
///          cpuN/topology/thread_siblings_list   the same text for all siblings
///          cpuN/cpu_capacity                    their speed, on any scale
///          cpuN/cpufreq/cpuinfo_max_freq        the same, where the capacity is not told
CoreCount countCores(const std::filesystem::path& cpus, std::span<const std::size_t> usable);

} // namespace lockstep::platform
