// What the memory of a run is for, and where it is.
#pragma once

#include <cstdint>
#include <string_view>

namespace lockstep {

enum class MemoryCategory {
    parameters, ///< weights and biases, and their fp16 copies
    gradients,
    optimizerState,
    activations, ///< A, t, Z and dZ of the examples at hand
    examples,    ///< the data set, on a device; a processor reads the host's
    bookkeeping, ///< losses, scores, and tables that kernels read
};
inline constexpr std::string_view memoryCategories[] = {"parameters",  "gradients", "optimizer state",
                                                        "activations", "examples",  "bookkeeping"};
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

} // namespace lockstep
