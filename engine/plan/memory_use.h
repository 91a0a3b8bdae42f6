// What the memory of a run is for, and where it is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace lockstep {

enum class MemoryCategory {
    parameters, ///< weights and biases
    gradients,
    optimizer,   ///< its state
    activations, ///< A, t, Z and dZ of the examples at hand
    data,        ///< the data set, on a device; a processor reads the host's
    copies,      ///< of weights, in another number format
    workspace,   ///< losses, scores, and tables that kernels read
};
inline constexpr std::string_view memoryCategories[] = {"parameters", "gradients", "optimizer", "activations",
                                                        "data",       "copies",    "workspace"};
constexpr std::string_view name(MemoryCategory category) {
    return memoryCategories[static_cast<std::size_t>(category)];
}

enum class MemoryPlace {
    host,     ///< the processor's, for a lane that computes there
    device,   ///< a Vulkan device's own, or the host's where a device has none (gpu::Memory)
    readback, ///< written by kernels, read by the host
    upload,   ///< written by the host, read by kernels
};

/// Memory that a run takes, by what it is for and where it is.
struct MemoryUse {
    MemoryCategory category = MemoryCategory::parameters;
    MemoryPlace place = MemoryPlace::host;
    std::uint64_t bytes = 0; ///< as allocated: devices round up
};

/// Adds it to what is for the same and in the same place.
inline void addUse(std::vector<MemoryUse>& uses, const MemoryUse& use) {
    const auto known = std::ranges::find_if(uses, [&](const MemoryUse& other) {
        return other.category == use.category && other.place == use.place;
    });
    if (known == uses.end())
        uses.push_back(use);
    else
        known->bytes += use.bytes;
}

} // namespace lockstep
