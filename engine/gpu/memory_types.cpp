#include "engine/gpu/memory_types.h"

#include <algorithm>
#include <tuple>

namespace lockstep::gpu {

namespace {

constexpr VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
constexpr VkMemoryPropertyFlags coherent = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkMemoryPropertyFlags cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;

// Without resizable BAR, the host reaches 256 MiB of a card's memory, which other programs use as well. A
// population's orders of examples take a few of them where batches are large.
constexpr std::uint64_t smallUpload = std::uint64_t{16} << 20;

} // namespace

// For kernels, the largest heap comes first: without resizable BAR, the small heap that the host reaches
// would fill up at once. Readback comes from cached memory in any heap, because the host reads a card's
// memory slowly. What the host writes is best on the card where it is small: records of steps and orders of
// examples, which kernels read in their inner loops. Larger uploads are copied once, and go to the largest
// heap.
std::vector<std::uint32_t> memoryTypes(const VkPhysicalDeviceMemoryProperties& memory, std::uint32_t allowed,
                                       Memory kind, std::uint64_t bytes) {
    const VkMemoryPropertyFlags good = kind == Memory::upload ? coherent : visible | cached;
    const VkMemoryPropertyFlags best =
        kind == Memory::upload && bytes <= smallUpload ? coherent | local : good;
    const auto rank = [&](std::uint32_t index) {
        const VkMemoryType& type = memory.memoryTypes[index];
        const auto has = [&](VkMemoryPropertyFlags flags) { return (type.propertyFlags & flags) == flags; };
        const int suits = has(best) ? 2 : has(good) ? 1 : 0;
        return std::tuple(kind == Memory::device ? 0 : suits, memory.memoryHeaps[type.heapIndex].size, suits);
    };
    std::vector<std::uint32_t> types;
    const VkMemoryPropertyFlags required = kind == Memory::device ? local : visible;
    for (std::uint32_t index = 0; index < memory.memoryTypeCount; ++index)
        if ((allowed & (1u << index)) != 0 &&
            (memory.memoryTypes[index].propertyFlags & required) == required)
            types.push_back(index);
    std::ranges::stable_sort(types, [&](std::uint32_t a, std::uint32_t b) { return rank(a) > rank(b); });
    return types;
}

} // namespace lockstep::gpu
