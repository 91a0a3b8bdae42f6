// What the system tells of its processors, and asks of their memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/platform/topology.h"

namespace lockstep::platform {

/// "AMD Ryzen 9 9950X 16-Core Processor"; empty if the system does not tell.
std::string processorName();

/// The numbers of the logical processors that this process may use; at least one. It respects an affinity
/// mask: a container with two of sixty-four has two.
std::vector<std::size_t> usableProcessors();

/// The cores behind the logical processors `usable`: see countCores().
CoreCount usableCores(std::span<const std::size_t> usable);

struct DataCache {
    unsigned level = 0; ///< 1 is the nearest
    std::uint64_t bytes = 0;
};

/// The caches through which the first processor reads data, the nearest first; empty if the system does not
/// tell.
std::vector<DataCache> dataCaches();

/// Bytes of memory that the whole machine has; 0 if the system does not tell.
std::uint64_t machineMemory();

/// Asks the system to back [data, data + bytes) with large pages, now or when it finds the time. The contents
/// stay as they are. Does nothing on systems that do not offer this for memory already in use.
void preferHugePages(const void* data, std::size_t bytes);

/// For a thread that computes what others wait for: asks the system not to slow it down to save power. Does
/// nothing on systems that do not do so.
void runAtFullSpeed();

} // namespace lockstep::platform
