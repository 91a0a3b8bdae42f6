// The Vulkan functions that the engine calls, loaded at run time so that programs also start without a Vulkan
// loader. `vk.CmdDispatch(...)` is the specification's vkCmdDispatch.
#pragma once

#include <vulkan/vulkan.h>

namespace lockstep::gpu {

// clang-format off
#define LOCKSTEP_VULKAN_GLOBAL(X)                                                                            \
    X(CreateInstance) X(EnumerateInstanceVersion) X(EnumerateInstanceLayerProperties)                        \
    X(EnumerateInstanceExtensionProperties)

#define LOCKSTEP_VULKAN_INSTANCE(X)                                                                          \
    X(DestroyInstance) X(EnumeratePhysicalDevices) X(GetPhysicalDeviceProperties2)                           \
    X(GetPhysicalDeviceFeatures2) X(GetPhysicalDeviceQueueFamilyProperties)                                  \
    X(GetPhysicalDeviceMemoryProperties) X(EnumerateDeviceExtensionProperties) X(CreateDevice)               \
    X(GetDeviceProcAddr)

#define LOCKSTEP_VULKAN_DEVICE(X)                                                                            \
    X(DestroyDevice) X(GetDeviceQueue) X(DeviceWaitIdle)                                                     \
    X(CreateBuffer) X(DestroyBuffer) X(GetBufferMemoryRequirements) X(BindBufferMemory)                      \
    X(CreateBufferView) X(DestroyBufferView)                                                                 \
    X(AllocateMemory) X(FreeMemory) X(MapMemory) X(FlushMappedMemoryRanges) X(InvalidateMappedMemoryRanges)  \
    X(CreateShaderModule) X(DestroyShaderModule) X(CreatePipelineLayout) X(DestroyPipelineLayout)            \
    X(CreateComputePipelines) X(DestroyPipeline)                                                             \
    X(CreateDescriptorSetLayout) X(DestroyDescriptorSetLayout) X(CreateDescriptorPool)                       \
    X(DestroyDescriptorPool) X(ResetDescriptorPool) X(AllocateDescriptorSets) X(UpdateDescriptorSets)        \
    X(CreatePipelineCache) X(DestroyPipelineCache) X(GetPipelineCacheData)                                   \
    X(CreateCommandPool) X(DestroyCommandPool) X(AllocateCommandBuffers) X(BeginCommandBuffer)               \
    X(EndCommandBuffer) X(QueueSubmit)                                                                       \
    X(CreateSemaphore) X(DestroySemaphore) X(WaitSemaphores) X(GetSemaphoreCounterValue)                     \
    X(CreateQueryPool) X(DestroyQueryPool) X(GetQueryPoolResults) X(CmdResetQueryPool) X(CmdWriteTimestamp)  \
    X(CmdBindPipeline) X(CmdPushConstants) X(CmdPushDescriptorSetKHR) X(CmdBindDescriptorSets)               \
    X(CmdDispatch) X(CmdPipelineBarrier) X(CmdCopyBuffer) X(CmdFillBuffer)
// clang-format on

#define LOCKSTEP_VULKAN_MEMBER(function) PFN_vk##function function = nullptr;

/// Entry points that need no instance. Members are null if no loader is installed.
struct GlobalApi {
    PFN_vkGetInstanceProcAddr GetInstanceProcAddr = nullptr;
    LOCKSTEP_VULKAN_GLOBAL(LOCKSTEP_VULKAN_MEMBER)
};

struct InstanceApi {
    LOCKSTEP_VULKAN_INSTANCE(LOCKSTEP_VULKAN_MEMBER)
    PFN_vkCreateDebugUtilsMessengerEXT CreateDebugUtilsMessengerEXT = nullptr; ///< null without the extension
    PFN_vkDestroyDebugUtilsMessengerEXT DestroyDebugUtilsMessengerEXT =
        nullptr; ///< null without the extension
    PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesNV GetPhysicalDeviceCooperativeMatrixPropertiesNV =
        nullptr;                 ///< null if no device has the extension
#ifdef VK_KHR_cooperative_matrix // headers of 2023 and later
    PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR GetPhysicalDeviceCooperativeMatrixPropertiesKHR =
        nullptr; ///< likewise
#endif
};

struct DeviceApi {
    LOCKSTEP_VULKAN_DEVICE(LOCKSTEP_VULKAN_MEMBER)
};

#undef LOCKSTEP_VULKAN_MEMBER

/// Opens the system's Vulkan loader (libvulkan.so.1, libvulkan.1.dylib), or one beside the program or in its
/// ../lib. If there is none, throws NoDeviceError that names the package to install.
const GlobalApi& loadVulkan();

/// A zero-initialised Vulkan structure with its type and, optionally, the next structure of its chain.
template <class Structure> Structure structure(VkStructureType type, void* next = nullptr) {
    Structure value{};
    value.sType = type;
    value.pNext = next;
    return value;
}

InstanceApi loadInstanceApi(VkInstance instance);
DeviceApi loadDeviceApi(const InstanceApi& instanceApi, VkDevice device);

} // namespace lockstep::gpu
