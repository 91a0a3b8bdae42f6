// The Vulkan functions that the engine calls, and those that draw with its device, loaded at run time so that
// programs also start without a Vulkan loader. `vk.CmdDispatch(...)` is the specification's vkCmdDispatch.
// A library like volk would define all of them as global variables of the functions' own names, which collide
// in a program that embeds the engine and links the loader itself.
#pragma once

#include <cstdint>
#include <vector>

#include <vulkan/vulkan.h>

#ifndef VK_KHR_cooperative_matrix // headers of 2022: these names and values are the specification's
#define VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME "VK_KHR_cooperative_matrix"
constexpr auto VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR =
    static_cast<VkStructureType>(1000506000);
constexpr auto VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR = static_cast<VkStructureType>(1000506001);
struct VkCooperativeMatrixPropertiesKHR {
    VkStructureType sType;
    void* pNext;
    std::uint32_t MSize, NSize, KSize;
    VkComponentTypeNV AType, BType, CType, ResultType;
    VkBool32 saturatingAccumulation;
    VkScopeNV scope;
};
struct VkPhysicalDeviceCooperativeMatrixFeaturesKHR {
    VkStructureType sType;
    void* pNext;
    VkBool32 cooperativeMatrix, cooperativeMatrixRobustBufferAccess;
};
using PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR =
    VkResult(VKAPI_PTR*)(VkPhysicalDevice, std::uint32_t*, VkCooperativeMatrixPropertiesKHR*);
#endif

namespace lockstep::gpu {

// clang-format off
#define LOCKSTEP_VULKAN_GLOBAL(X)                                                                            \
    X(CreateInstance) X(EnumerateInstanceLayerProperties) X(EnumerateInstanceExtensionProperties)

// Functions of extensions are null without the extension, those of surfaces and swapchains without a window.
#define LOCKSTEP_VULKAN_INSTANCE(X)                                                                          \
    X(DestroyInstance) X(EnumeratePhysicalDevices) X(GetPhysicalDeviceProperties2)                           \
    X(GetPhysicalDeviceFeatures2) X(GetPhysicalDeviceQueueFamilyProperties)                                  \
    X(GetPhysicalDeviceMemoryProperties) X(GetPhysicalDeviceMemoryProperties2)                               \
    X(EnumerateDeviceExtensionProperties) X(CreateDevice) X(GetDeviceProcAddr)                               \
    X(CreateDebugUtilsMessengerEXT) X(DestroyDebugUtilsMessengerEXT)                                         \
    X(GetPhysicalDeviceCooperativeMatrixPropertiesNV) X(GetPhysicalDeviceCooperativeMatrixPropertiesKHR)     \
    X(DestroySurfaceKHR) X(GetPhysicalDeviceSurfaceSupportKHR) X(GetPhysicalDeviceSurfaceCapabilitiesKHR)    \
    X(GetPhysicalDeviceSurfaceFormatsKHR) X(GetPhysicalDeviceSurfacePresentModesKHR)

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
    X(CmdDispatch) X(CmdDispatchBase) X(CmdPipelineBarrier) X(CmdCopyBuffer) X(CmdFillBuffer)                \
    X(CreateImage) X(DestroyImage) X(GetImageMemoryRequirements) X(BindImageMemory)                          \
    X(CreateImageView) X(DestroyImageView) X(CreateSampler) X(DestroySampler)                                \
    X(CreateRenderPass) X(DestroyRenderPass) X(CreateFramebuffer) X(DestroyFramebuffer)                      \
    X(CreateGraphicsPipelines) X(FreeDescriptorSets)                                                         \
    X(CreateFence) X(DestroyFence) X(GetFenceStatus) X(WaitForFences) X(ResetFences) X(ResetCommandPool)     \
    X(CmdBeginRenderPass) X(CmdEndRenderPass) X(CmdBindVertexBuffers) X(CmdBindIndexBuffer)                  \
    X(CmdSetViewport) X(CmdSetScissor) X(CmdDrawIndexed) X(CmdCopyBufferToImage) X(CmdCopyImageToBuffer)     \
    X(CreateSwapchainKHR) X(DestroySwapchainKHR) X(GetSwapchainImagesKHR) X(AcquireNextImageKHR)             \
    X(QueuePresentKHR)
// clang-format on

#define LOCKSTEP_VULKAN_MEMBER(function) PFN_vk##function function = nullptr;

/// Entry points that need no instance. Members are null if no loader is installed.
struct GlobalApi {
    PFN_vkGetInstanceProcAddr GetInstanceProcAddr = nullptr;
    LOCKSTEP_VULKAN_GLOBAL(LOCKSTEP_VULKAN_MEMBER)
};

struct InstanceApi {
    LOCKSTEP_VULKAN_INSTANCE(LOCKSTEP_VULKAN_MEMBER)
};

struct DeviceApi {
    LOCKSTEP_VULKAN_DEVICE(LOCKSTEP_VULKAN_MEMBER)
};

#undef LOCKSTEP_VULKAN_MEMBER

/// Opens the system's Vulkan loader (libvulkan.so.1, libvulkan.1.dylib, vulkan-1.dll), or one beside the
/// program or in its
/// ../lib. If there is none, throws NoDeviceError that names the package to install.
const GlobalApi& loadVulkan();

/// A zero-initialised Vulkan structure with its type and, optionally, the next structure of its chain.
template <class Structure> Structure structure(VkStructureType type, void* next = nullptr) {
    Structure value{};
    value.sType = type;
    value.pNext = next;
    return value;
}

/// The elements that a Vulkan function lists: `list(&count, nullptr)` sets their number, and a second call
/// fills them in. Each begins as a copy of `element`.
template <class Element, class List>
std::vector<Element> enumerate(const List& list, const Element& element = {}) {
    std::uint32_t count = 0;
    list(&count, static_cast<Element*>(nullptr));
    std::vector<Element> all(count, element);
    list(&count, all.data());
    all.resize(count);
    return all;
}

/// Loads the functions by that of the loader which the instance came from.
InstanceApi loadInstanceApi(PFN_vkGetInstanceProcAddr getInstanceProcAddr, VkInstance instance);
DeviceApi loadDeviceApi(const InstanceApi& instanceApi, VkDevice device);

using Extensions = std::vector<VkExtensionProperties>;
Extensions extensionsOf(const InstanceApi& api, VkPhysicalDevice device);
bool contains(const Extensions& extensions, const char* name);
std::vector<VkQueueFamilyProperties> queueFamiliesOf(const InstanceApi& api, VkPhysicalDevice device);

} // namespace lockstep::gpu
