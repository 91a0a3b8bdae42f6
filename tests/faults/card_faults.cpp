// A pretended card: its name, limits, features, queue families, extensions, memory and clock.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tests/faults/layer.h"

namespace lockstep::faults {

namespace {

// The stricter of both: what is at most, and what is a multiple.
template <class T> void lowerTo(T& limit, T card) { limit = std::min(limit, card); }
template <class T> void raiseTo(T& alignment, T card) { alignment = std::max(alignment, card); }

void pretendLimits(const CardLimits& card, VkPhysicalDeviceLimits& limits) {
    lowerTo(limits.maxComputeWorkGroupInvocations, card.groupInvocations);
    for (int axis = 0; axis < 3; ++axis) {
        lowerTo(limits.maxComputeWorkGroupSize[axis], card.groupSize[axis]);
        lowerTo(limits.maxComputeWorkGroupCount[axis], card.groupCount[axis]);
    }
    lowerTo(limits.maxComputeSharedMemorySize, card.sharedMemory);
    lowerTo(limits.maxPushConstantsSize, card.pushConstants);
    lowerTo(limits.maxStorageBufferRange, card.storageRange);
    lowerTo(limits.maxPerStageDescriptorStorageBuffers, card.storageBuffers);
    lowerTo(limits.maxTexelBufferElements, card.texelElements);
    lowerTo(limits.maxBoundDescriptorSets, card.descriptorSets);
    lowerTo(limits.maxMemoryAllocationCount, card.allocations);
    raiseTo(limits.minStorageBufferOffsetAlignment, VkDeviceSize{card.storageAlignment});
    raiseTo(limits.minTexelBufferOffsetAlignment, VkDeviceSize{card.texelAlignment});
    raiseTo(limits.nonCoherentAtomSize, VkDeviceSize{card.atom});
    limits.timestampPeriod = card.tick;
}

template <class Structure> Structure* found(VkBaseOutStructure* chain, VkStructureType type) {
    for (; chain != nullptr; chain = chain->pNext)
        if (chain->sType == type) return reinterpret_cast<Structure*>(chain);
    return nullptr;
}

template <std::size_t size> void copyText(char (&to)[size], std::string_view text) {
    std::snprintf(to, size, "%.*s", static_cast<int>(text.size()), text.data());
}

void pretendDriver(const Card& card, VkBaseOutStructure* chain) {
    if (auto* driver = found<VkPhysicalDeviceDriverProperties>(
            chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES)) {
        driver->driverID = card.driverId;
        copyText(driver->driverName, card.driver);
        copyText(driver->driverInfo, card.driverInfo);
    }
    if (auto* identity =
            found<VkPhysicalDeviceIDProperties>(chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES)) {
        std::memset(identity->deviceUUID, 0, VK_UUID_SIZE);
        std::memcpy(identity->deviceUUID, card.id.data(),
                    std::min<std::size_t>(card.id.size(), VK_UUID_SIZE));
    }
    auto* sizes = found<VkPhysicalDeviceSubgroupSizeControlProperties>(
        chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES);
    if (sizes != nullptr && card.api < VK_API_VERSION_1_3) { // unknown to the driver, and left alone
        sizes->minSubgroupSize = sizes->maxSubgroupSize = 0;
    }
    if (auto* subset = found<VkPhysicalDevicePortabilitySubsetPropertiesKHR>(
            chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PORTABILITY_SUBSET_PROPERTIES_KHR))
        subset->minVertexInputBindingStrideAlignment = 4;
}

std::uint64_t withBits(std::uint64_t value, std::uint32_t bits) {
    return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

// Nanoseconds that a card which idled seems to have worked, `passed` after it was woken. Its slowness falls
// from 4 to 1 on straight lines, whose areas are summed here: over the first second, or before and after a
// rest.
double seenOf(double passed) {
    struct Phase {
        double seconds;
        double from, to; // times as long as the work takes
    };
    static constexpr Phase waking[] = {{1, 4, 1}};
    static constexpr Phase resting[] = {{0.25, 4, 2.5}, {0.5, 2.5, 2.5}, {0.25, 2.5, 1}};
    double seen = 0;
    for (const Phase& phase :
         plan().has("resting-clock") ? std::span<const Phase>(resting) : std::span<const Phase>(waking)) {
        const double length = std::min(passed, 1e9 * phase.seconds);
        const double to = phase.from + (phase.to - phase.from) * length / (1e9 * phase.seconds);
        seen += length * (phase.from + to) / 2;
        passed -= length;
    }
    return seen + passed;
}

// Clocks that are not the driver's: a coarse one, of a card that idled, and a card's own ticks and valid
// bits, a second before it wraps around.
VKAPI_ATTR VkResult VKAPI_CALL getQueryResults(VkDevice handle, VkQueryPool pool, std::uint32_t first,
                                               std::uint32_t count, std::size_t size, void* data,
                                               VkDeviceSize stride, VkQueryResultFlags flags) {
    DeviceState& device = deviceOf(handle);
    const VkResult result =
        device.next.GetQueryPoolResults(handle, pool, first, count, size, data, stride, flags);
    const Card* card = plan().card();
    const bool idled = plan().has("waking-clock") || plan().has("resting-clock");
    const std::uint64_t step = plan().number("coarse-clock");
    if ((card == nullptr && !idled && step == 0) || result != VK_SUCCESS ||
        (flags & VK_QUERY_RESULT_64_BIT) == 0)
        return result;
    const double tick = card == nullptr ? 1 : static_cast<double>(card->limits.tick);
    const auto second = static_cast<std::uint64_t>(1e9 / tick);
    for (std::uint32_t query = 0; query < count; ++query) {
        std::uint64_t ticks = 0;
        std::byte* place = static_cast<std::byte*>(data) + query * stride;
        std::memcpy(&ticks, place, sizeof ticks);
        std::uint64_t none = 0;
        device.firstTick.compare_exchange_strong(none, ticks);
        auto passed = static_cast<double>(static_cast<std::int64_t>(ticks - device.firstTick));
        if (idled && passed > 0) passed = seenOf(passed);
        const auto scaled = static_cast<std::int64_t>(passed / tick);
        ticks = card == nullptr ? device.firstTick + static_cast<std::uint64_t>(scaled)
                                : withBits(static_cast<std::uint64_t>(scaled) - second,
                                           card->families[0].timestampValidBits);
        if (step > 0) ticks -= ticks % step;
        std::memcpy(place, &ticks, sizeof ticks);
    }
    return result;
}

} // namespace

void pretendProperties(const Card& card, VkPhysicalDeviceProperties2& out) {
    VkPhysicalDeviceProperties& core = out.properties;
    copyText(core.deviceName, card.name);
    core.vendorID = card.vendor;
    core.deviceType = card.type;
    core.apiVersion = std::min(core.apiVersion, card.api + 200); // any patch
    pretendLimits(card.limits, core.limits);
    pretendDriver(card, static_cast<VkBaseOutStructure*>(out.pNext));
}

void pretendFeatures(const Card& card, VkPhysicalDeviceFeatures2& out) {
    if (card.portabilitySubset) out.features.shaderFloat64 = out.features.geometryShader = VK_FALSE;
    auto* chain = static_cast<VkBaseOutStructure*>(out.pNext);
    if (card.halfArithmetic) return;
    if (auto* all = found<VkPhysicalDeviceVulkan12Features>(
            chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES))
        all->shaderFloat16 = VK_FALSE;
    if (auto* small = found<VkPhysicalDeviceShaderFloat16Int8Features>(
            chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES))
        small->shaderFloat16 = VK_FALSE;
}

// Every type of the card's is one that the driver can map; the layer maps only those that the card can.
VkPhysicalDeviceMemoryProperties cardMemory(const Card& card, const VkPhysicalDeviceMemoryProperties& real,
                                            std::vector<std::uint32_t>& realTypes) {
    VkPhysicalDeviceMemoryProperties result{};
    std::uint64_t largest = 0;
    for (const CardHeap& heap : card.heaps) largest = std::max(largest, heap.mebibytes << 20);
    std::uint64_t available = 0;
    for (const VkMemoryHeap& heap : std::span(real.memoryHeaps, real.memoryHeapCount))
        available = std::max(available, heap.size);
    const double scale = std::min(1.0, static_cast<double>(available) / static_cast<double>(largest));
    for (const CardHeap& heap : card.heaps) {
        const double size = static_cast<double>(heap.mebibytes << 20) * scale;
        result.memoryHeaps[result.memoryHeapCount++] = {static_cast<VkDeviceSize>(size), heap.flags};
    }
    constexpr VkMemoryPropertyFlags mappable =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    const auto* from =
        std::ranges::find_if(std::span(real.memoryTypes, real.memoryTypeCount), [](const VkMemoryType& type) {
            return (type.propertyFlags & mappable) == mappable;
        }).base();
    realTypes.assign(card.types.size(), static_cast<std::uint32_t>(from - real.memoryTypes));
    std::ranges::copy(card.types, result.memoryTypes);
    result.memoryTypeCount = static_cast<std::uint32_t>(card.types.size());
    return result;
}

PFN_vkVoidFunction cardFunction(std::string_view name) {
    static const NamedFunction functions[] = {named("vkGetQueryPoolResults", getQueryResults)};
    return findFunction(functions, name);
}

} // namespace lockstep::faults
