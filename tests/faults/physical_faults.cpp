// What devices say about themselves.
#include <algorithm>
#include <cstring>

#include "tests/faults/layer.h"

namespace lockstep::faults {

namespace {

VKAPI_ATTR VkResult VKAPI_CALL enumeratePhysicalDevices(VkInstance instance, std::uint32_t* count,
                                                        VkPhysicalDevice* devices) {
    if (plan().has("no-device")) return VK_ERROR_INITIALIZATION_FAILED;
    if (!plan().has("empty-device-list"))
        return instanceOf(instance).next.EnumeratePhysicalDevices(instance, count, devices);
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
    if (plan().has("vulkan-1.1")) out->properties.apiVersion = VK_MAKE_API_VERSION(0, 1, 1, 200);
    if (const auto slower = plan().number("slow-clock"); slower > 0)
        out->properties.limits.timestampPeriod *= static_cast<float>(slower);
    if (plan().has("non-coherent")) out->properties.limits.nonCoherentAtomSize = pretendedAtom;
    if (!plan().has("low-limits")) return;
    lower(out->properties.limits);
    for (auto* next = static_cast<VkBaseOutStructure*>(out->pNext); next != nullptr; next = next->pNext)
        if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PUSH_DESCRIPTOR_PROPERTIES_KHR)
            reinterpret_cast<VkPhysicalDevicePushDescriptorPropertiesKHR*>(next)->maxPushDescriptors = 32;
}

VKAPI_ATTR void VKAPI_CALL getQueueFamilies(VkPhysicalDevice physical, std::uint32_t* count,
                                            VkQueueFamilyProperties* families) {
    instanceOf(physical).next.GetPhysicalDeviceQueueFamilyProperties(physical, count, families);
    if (families == nullptr || !plan().has("no-timestamps")) return;
    for (std::uint32_t index = 0; index < *count; ++index) families[index].timestampValidBits = 0;
}

VKAPI_ATTR void VKAPI_CALL getMemory(VkPhysicalDevice physical, VkPhysicalDeviceMemoryProperties* out) {
    VkPhysicalDeviceMemoryProperties real{};
    instanceOf(physical).next.GetPhysicalDeviceMemoryProperties(physical, &real);
    std::vector<std::uint32_t> realTypes;
    *out = pretendedMemory(real, realTypes);
}

VKAPI_ATTR VkResult VKAPI_CALL enumerateExtensions(VkPhysicalDevice physical, const char* layerName,
                                                   std::uint32_t* count, VkExtensionProperties* out) {
    const auto next = instanceOf(physical).next.EnumerateDeviceExtensionProperties;
    if (layerName != nullptr || !plan().has("no-push-descriptors"))
        return next(physical, layerName, count, out);
    std::uint32_t all = 0;
    next(physical, nullptr, &all, nullptr);
    std::vector<VkExtensionProperties> offered(all);
    next(physical, nullptr, &all, offered.data());
    std::erase_if(offered, [](const VkExtensionProperties& extension) {
        return std::strcmp(extension.extensionName, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME) == 0;
    });
    if (out != nullptr) std::copy_n(offered.begin(), std::min<std::size_t>(*count, offered.size()), out);
    *count = static_cast<std::uint32_t>(offered.size());
    return VK_SUCCESS;
}

} // namespace

// `staged` splits each type: device-local ones that cannot be mapped, then the mappable ones, not
// device-local.
VkPhysicalDeviceMemoryProperties pretendedMemory(const VkPhysicalDeviceMemoryProperties& real,
                                                 std::vector<std::uint32_t>& realTypes) {
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
        named("vkGetPhysicalDeviceProperties2", getProperties2),
        named("vkGetPhysicalDeviceQueueFamilyProperties", getQueueFamilies),
        named("vkGetPhysicalDeviceMemoryProperties", getMemory),
        named("vkEnumerateDeviceExtensionProperties", enumerateExtensions)};
    return findFunction(functions, name);
}

} // namespace lockstep::faults
