// Memory: allocations that fail, and mappings that are as forgetful as the specification allows.
#include <cstring>
#include <span>

#include "tests/faults/layer.h"

namespace lockstep::faults {

namespace {

constexpr unsigned char nonsense = 0xA5;

std::atomic<std::uint64_t> usage[VK_MAX_MEMORY_HEAPS];

// What a card's driver offers, and a program has to ask for or must leave alone.
constexpr VkMemoryPropertyFlags special =
    VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD | VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD |
    VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT | VK_MEMORY_PROPERTY_PROTECTED_BIT;

VKAPI_ATTR void VKAPI_CALL getBufferRequirements(VkDevice handle, VkBuffer buffer,
                                                 VkMemoryRequirements* out) {
    DeviceState& device = deviceOf(handle);
    device.next.GetBufferMemoryRequirements(handle, buffer, out);
    out->memoryTypeBits = pretendedTypes(device, out->memoryTypeBits);
}

VKAPI_ATTR VkResult VKAPI_CALL allocateMemory(VkDevice handle, const VkMemoryAllocateInfo* info,
                                              const VkAllocationCallbacks* allocator,
                                              VkDeviceMemory* memory) {
    if (creationIsDue("vkAllocateMemory")) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    DeviceState& device = deviceOf(handle);
    VkMemoryAllocateInfo real = *info;
    real.memoryTypeIndex = device.realTypes.at(info->memoryTypeIndex);
    const VkResult result = device.next.AllocateMemory(handle, &real, allocator, memory);
    if (result != VK_SUCCESS) return result;
    noteCreated(device, "VkDeviceMemory", 1);
    const VkMemoryPropertyFlags flags = device.memory.memoryTypes[info->memoryTypeIndex].propertyFlags;
    if ((flags & special) != 0) misuse("memory of a type that needs a feature, or serves other things");
    report().memoryFlags = flags;
    const std::uint32_t heap = device.memory.memoryTypes[info->memoryTypeIndex].heapIndex;
    usage[heap] += info->allocationSize;
    const std::lock_guard lock(device.objects);
    MemoryState& state = device.memories[*memory];
    state.heap = heap;
    state.size = info->allocationSize;
    state.mappable = (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0;
    state.coherent = (flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0;
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL freeMemory(VkDevice handle, VkDeviceMemory memory,
                                      const VkAllocationCallbacks* allocator) {
    if (memory == VK_NULL_HANDLE) return;
    DeviceState& device = deviceOf(handle);
    if (device.hangs) misuse("vkFreeMemory while the device hangs");
    noteCreated(device, "VkDeviceMemory", -1);
    {
        const std::lock_guard lock(device.objects);
        const MemoryState& state = device.memories.at(memory);
        usage[state.heap] -= state.size;
        device.memories.erase(memory);
    }
    device.next.FreeMemory(handle, memory, allocator);
}

// Non-coherent memory is shown as a copy, which meets the real one only in flushes and invalidations. At
// first it holds nonsense.
VKAPI_ATTR VkResult VKAPI_CALL mapMemory(VkDevice handle, VkDeviceMemory memory, VkDeviceSize offset,
                                         VkDeviceSize, VkMemoryMapFlags flags, void** mapped) {
    if (creationIsDue("vkMapMemory")) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    DeviceState& device = deviceOf(handle);
    const std::lock_guard lock(device.objects);
    MemoryState& state = device.memories.at(memory);
    if (!state.mappable) {
        misuse("vkMapMemory of memory that is not host-visible");
        return VK_ERROR_MEMORY_MAP_FAILED;
    }
    void* real = nullptr;
    const VkResult result = device.next.MapMemory(handle, memory, 0, VK_WHOLE_SIZE, flags, &real);
    if (result != VK_SUCCESS) return result;
    state.real = static_cast<std::byte*>(real);
    *mapped = state.real + offset;
    if (state.coherent) return VK_SUCCESS;
    state.shadow.assign(state.size, std::byte{nonsense});
    *mapped = state.shadow.data() + offset;
    return VK_SUCCESS;
}

template <class Copy>
void forEachRange(VkDevice handle, std::uint32_t count, const VkMappedMemoryRange* ranges, Copy&& copy) {
    DeviceState& device = deviceOf(handle);
    const std::lock_guard lock(device.objects);
    for (const VkMappedMemoryRange& range : std::span(ranges, count)) {
        MemoryState& state = device.memories.at(range.memory);
        const std::uint64_t size = range.size == VK_WHOLE_SIZE ? state.size - range.offset : range.size;
        const std::uint64_t end = range.offset + size;
        if (range.offset % pretendedAtom != 0 || (end % pretendedAtom != 0 && end != state.size))
            misuse("a flushed or invalidated range is not aligned to nonCoherentAtomSize");
        copy(state.shadow.data() + range.offset, state.real + range.offset, size);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL flush(VkDevice handle, std::uint32_t count,
                                     const VkMappedMemoryRange* ranges) {
    report().flushes += count;
    if (!plan().has("non-coherent"))
        return deviceOf(handle).next.FlushMappedMemoryRanges(handle, count, ranges);
    forEachRange(handle, count, ranges, [](const std::byte* shadow, std::byte* real, std::uint64_t size) {
        std::memcpy(real, shadow, size);
    });
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL invalidate(VkDevice handle, std::uint32_t count,
                                          const VkMappedMemoryRange* ranges) {
    report().invalidations += count;
    if (!plan().has("non-coherent"))
        return deviceOf(handle).next.InvalidateMappedMemoryRanges(handle, count, ranges);
    forEachRange(handle, count, ranges, [](std::byte* shadow, const std::byte* real, std::uint64_t size) {
        std::memcpy(shadow, real, size);
    });
    return VK_SUCCESS;
}

} // namespace

std::uint64_t heapUsage(std::uint32_t heap) { return usage[heap]; }

std::uint32_t pretendedTypes(const DeviceState& device, std::uint32_t real) {
    std::uint32_t types = 0;
    for (std::uint32_t type = 0; type < device.realTypes.size(); ++type)
        if ((real >> device.realTypes[type] & 1u) != 0) types |= 1u << type;
    return types;
}

void spoilMappedMemory(DeviceState& device) {
    const std::lock_guard lock(device.objects);
    for (const auto& [handle, state] : device.memories)
        if (state.real != nullptr) std::memset(state.real, nonsense, state.size);
}

PFN_vkVoidFunction memoryFunction(std::string_view name) {
    static const NamedFunction functions[] = {named("vkGetBufferMemoryRequirements", getBufferRequirements),
                                              named("vkAllocateMemory", allocateMemory),
                                              named("vkFreeMemory", freeMemory),
                                              named("vkMapMemory", mapMemory),
                                              named("vkFlushMappedMemoryRanges", flush),
                                              named("vkInvalidateMappedMemoryRanges", invalidate)};
    return findFunction(functions, name);
}

} // namespace lockstep::faults
