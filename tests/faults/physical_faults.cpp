// What devices say about themselves.
#include <algorithm>

#include "tests/faults/layer.h"

namespace lockstep::faults {

namespace {

VKAPI_ATTR VkResult VKAPI_CALL enumeratePhysicalDevices(VkInstance instance, std::uint32_t* count,
                                                        VkPhysicalDevice* devices) {
    if (plan().has("no-device")) return VK_ERROR_INITIALIZATION_FAILED;
    const Card* card = plan().card();
    const bool hidden = card != nullptr && card->portabilitySubset && !instanceOf(instance).portability;
    if (!plan().has("empty-device-list") && !hidden) {
        const VkResult result = instanceOf(instance).next.EnumeratePhysicalDevices(instance, count, devices);
        if (devices != nullptr && *count > 0) instanceOf(instance).first = devices[0];
        return result;
    }
    *count = 0;
    return VK_SUCCESS;
}

void lower(VkPhysicalDeviceLimits& limits) {
    limits.maxComputeWorkGroupInvocations = 128;
    limits.maxComputeWorkGroupSize[0] = limits.maxComputeWorkGroupSize[1] = 128;
    limits.maxComputeWorkGroupSize[2] = 64;
    std::fill_n(limits.maxComputeWorkGroupCount, 3, 65535u);
    limits.maxComputeSharedMemorySize = 16384;
    limits.maxPushConstantsSize = 128;
    limits.maxStorageBufferRange = 1u << 27;
    limits.minStorageBufferOffsetAlignment = 256;
    limits.maxTexelBufferElements = 65536;
    limits.minTexelBufferOffsetAlignment = 256;
}

VKAPI_ATTR void VKAPI_CALL getProperties2(VkPhysicalDevice physical, VkPhysicalDeviceProperties2* out) {
    instanceOf(physical).next.GetPhysicalDeviceProperties2(physical, out);
    if (plan().card() != nullptr) pretendProperties(*plan().card(), *out);
    if (plan().has("vulkan-1.1")) out->properties.apiVersion = VK_MAKE_API_VERSION(0, 1, 1, 200);
    if (const auto slower = plan().number("slow-clock"); slower > 0)
        out->properties.limits.timestampPeriod *= static_cast<float>(slower);
    if (plan().has("non-coherent")) out->properties.limits.nonCoherentAtomSize = pretendedAtom;
    for (auto* next = static_cast<VkBaseOutStructure*>(out->pNext); next != nullptr; next = next->pNext)
        if (plan().has("double-subgroups") &&
            next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES)
            reinterpret_cast<VkPhysicalDeviceSubgroupProperties*>(next)->subgroupSize *= 2;
    if (!plan().has("low-limits")) return;
    lower(out->properties.limits);
    for (auto* next = static_cast<VkBaseOutStructure*>(out->pNext); next != nullptr; next = next->pNext)
        if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PUSH_DESCRIPTOR_PROPERTIES_KHR)
            reinterpret_cast<VkPhysicalDevicePushDescriptorPropertiesKHR*>(next)->maxPushDescriptors = 32;
}

VKAPI_ATTR void VKAPI_CALL getProperties(VkPhysicalDevice physical, VkPhysicalDeviceProperties* out) {
    VkPhysicalDeviceProperties2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, nullptr, {}};
    getProperties2(physical, &all);
    *out = all.properties;
}

VKAPI_ATTR void VKAPI_CALL getFeatures2(VkPhysicalDevice physical, VkPhysicalDeviceFeatures2* out) {
    instanceOf(physical).next.GetPhysicalDeviceFeatures2(physical, out);
    if (plan().card() != nullptr) pretendFeatures(*plan().card(), *out);
}

VKAPI_ATTR void VKAPI_CALL getFeatures(VkPhysicalDevice physical, VkPhysicalDeviceFeatures* out) {
    VkPhysicalDeviceFeatures2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, nullptr, {}};
    getFeatures2(physical, &all);
    *out = all.features;
}

std::vector<VkQueueFamilyProperties> familiesOf(VkPhysicalDevice physical) {
    auto families =
        plan().card() != nullptr
            ? plan().card()->families
            : gpu::enumerate<VkQueueFamilyProperties>([&](auto* count, auto* out) {
                  instanceOf(physical).next.GetPhysicalDeviceQueueFamilyProperties(physical, count, out);
              });
    if (plan().has("second-queue")) ++families.front().queueCount;
    if (plan().has("no-timestamps"))
        for (VkQueueFamilyProperties& family : families) family.timestampValidBits = 0;
    return families;
}

// As both kinds of functions that list things want it: how many, or as many as there is room for.
template <class Element, class Put>
void answer(const std::vector<Element>& all, std::uint32_t* count, bool counting, const Put& put) {
    if (counting)
        *count = static_cast<std::uint32_t>(all.size());
    else
        *count = std::min(*count, static_cast<std::uint32_t>(all.size()));
    for (std::uint32_t index = 0; !counting && index < *count; ++index) put(index, all[index]);
}

VKAPI_ATTR void VKAPI_CALL getQueueFamilies(VkPhysicalDevice physical, std::uint32_t* count,
                                            VkQueueFamilyProperties* out) {
    answer(familiesOf(physical), count, out == nullptr,
           [out](std::uint32_t index, const VkQueueFamilyProperties& family) { out[index] = family; });
}

VKAPI_ATTR void VKAPI_CALL getQueueFamilies2(VkPhysicalDevice physical, std::uint32_t* count,
                                             VkQueueFamilyProperties2* out) {
    answer(familiesOf(physical), count, out == nullptr,
           [out](std::uint32_t index, const VkQueueFamilyProperties& family) {
               out[index].queueFamilyProperties = family;
           });
}

VKAPI_ATTR void VKAPI_CALL getMemory(VkPhysicalDevice physical, VkPhysicalDeviceMemoryProperties* out) {
    VkPhysicalDeviceMemoryProperties real{};
    instanceOf(physical).next.GetPhysicalDeviceMemoryProperties(physical, &real);
    std::vector<std::uint32_t> realTypes;
    *out = pretendedMemory(real, realTypes);
}

bool hasBudget() { return plan().card() != nullptr || plan().has("budget"); }

VKAPI_ATTR void VKAPI_CALL getMemory2(VkPhysicalDevice physical, VkPhysicalDeviceMemoryProperties2* out) {
    getMemory(physical, &out->memoryProperties);
    for (auto* next = static_cast<VkBaseOutStructure*>(out->pNext); next != nullptr; next = next->pNext) {
        if (next->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT) continue;
        if (!hasBudget()) misuse("there is no VK_EXT_memory_budget");
        auto* budget = reinterpret_cast<VkPhysicalDeviceMemoryBudgetPropertiesEXT*>(next);
        for (std::uint32_t heap = 0; heap < out->memoryProperties.memoryHeapCount; ++heap) {
            const std::uint64_t size = out->memoryProperties.memoryHeaps[heap].size;
            const std::uint64_t allowed = plan().number("budget") << 20;
            budget->heapBudget[heap] = std::min(size, allowed > 0 ? allowed : size / 10 * 9);
            budget->heapUsage[heap] = heapUsage(heap);
        }
    }
}

bool isHidden(std::string_view extension) {
    if (plan().has("no-push-descriptors") && extension == VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME) return true;
    const Card* card = plan().card();
    return card != nullptr && std::ranges::find(card->without, extension) != card->without.end();
}

VKAPI_ATTR VkResult VKAPI_CALL enumerateExtensions(VkPhysicalDevice physical, const char* layerName,
                                                   std::uint32_t* count, VkExtensionProperties* out) {
    const auto next = instanceOf(physical).next.EnumerateDeviceExtensionProperties;
    if (layerName != nullptr) return next(physical, layerName, count, out);
    auto offered = gpu::enumerate<VkExtensionProperties>(
        [&](auto* number, auto* list) { next(physical, nullptr, number, list); });
    std::erase_if(offered,
                  [](const VkExtensionProperties& extension) { return isHidden(extension.extensionName); });
    const Card* card = plan().card();
    if (card != nullptr && card->portabilitySubset) offered.push_back({"VK_KHR_portability_subset", 1});
    if (hasBudget()) offered.push_back({VK_EXT_MEMORY_BUDGET_EXTENSION_NAME, 1});
    const bool room = out == nullptr || *count >= offered.size();
    answer(offered, count, out == nullptr,
           [out](std::uint32_t index, const VkExtensionProperties& extension) { out[index] = extension; });
    return room ? VK_SUCCESS : VK_INCOMPLETE;
}

} // namespace

bool isPretendedExtension(std::string_view name) {
    const Card* card = plan().card();
    return (card != nullptr && card->portabilitySubset && name == "VK_KHR_portability_subset") ||
           (hasBudget() && name == VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
}

// `staged` splits each type: device-local ones that cannot be mapped, then the mappable ones, not
// device-local.
VkPhysicalDeviceMemoryProperties pretendedMemory(const VkPhysicalDeviceMemoryProperties& real,
                                                 std::vector<std::uint32_t>& realTypes) {
    if (plan().card() != nullptr) return cardMemory(*plan().card(), real, realTypes);
    constexpr VkMemoryPropertyFlags host = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                           VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
                                           VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    VkPhysicalDeviceMemoryProperties result = real;
    result.memoryTypeCount = 0;
    realTypes.clear();
    const auto add = [&](std::uint32_t type, VkMemoryPropertyFlags removed) {
        if (result.memoryTypeCount == VK_MAX_MEMORY_TYPES) return;
        VkMemoryType& added = result.memoryTypes[result.memoryTypeCount++];
        added = real.memoryTypes[type];
        added.propertyFlags &= ~removed;
        realTypes.push_back(type);
    };
    const VkMemoryPropertyFlags never =
        plan().has("non-coherent") ? VkMemoryPropertyFlags{VK_MEMORY_PROPERTY_HOST_COHERENT_BIT} : 0;
    for (std::uint32_t type = 0; type < real.memoryTypeCount; ++type)
        if (!plan().has("staged"))
            add(type, never);
        else if ((real.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0)
            add(type, host);
    for (std::uint32_t type = 0; type < real.memoryTypeCount && plan().has("staged"); ++type)
        if ((real.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0)
            add(type, never | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    return result;
}

PFN_vkVoidFunction physicalFunction(std::string_view name) {
    static const NamedFunction functions[] = {
        named("vkEnumeratePhysicalDevices", enumeratePhysicalDevices),
        named("vkGetPhysicalDeviceProperties", getProperties),
        named("vkGetPhysicalDeviceProperties2", getProperties2),
        named("vkGetPhysicalDeviceProperties2KHR", getProperties2),
        named("vkGetPhysicalDeviceFeatures", getFeatures),
        named("vkGetPhysicalDeviceFeatures2", getFeatures2),
        named("vkGetPhysicalDeviceFeatures2KHR", getFeatures2),
        named("vkGetPhysicalDeviceQueueFamilyProperties", getQueueFamilies),
        named("vkGetPhysicalDeviceQueueFamilyProperties2", getQueueFamilies2),
        named("vkGetPhysicalDeviceQueueFamilyProperties2KHR", getQueueFamilies2),
        named("vkGetPhysicalDeviceMemoryProperties", getMemory),
        named("vkGetPhysicalDeviceMemoryProperties2", getMemory2),
        named("vkGetPhysicalDeviceMemoryProperties2KHR", getMemory2),
        named("vkEnumerateDeviceExtensionProperties", enumerateExtensions)};
    return findFunction(functions, name);
}

} // namespace lockstep::faults
