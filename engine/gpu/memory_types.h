// Which of a device's memory types a buffer is placed in.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/gpu/buffer.h"
#include "engine/gpu/vulkan_api.h"

namespace lockstep::gpu {

/// The indices of usable memory types, best first.
///   allowed   bit i: the buffer may be placed in type i (VkMemoryRequirements::memoryTypeBits)
///   bytes     size of the buffer
std::vector<std::uint32_t> memoryTypes(const VkPhysicalDeviceMemoryProperties& memory, std::uint32_t allowed,
                                       Memory kind, std::uint64_t bytes);

} // namespace lockstep::gpu
