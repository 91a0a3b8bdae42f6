// The Vulkan functions that drawing needs and the engine does not call.
#pragma once

#include <vulkan/vulkan.h>

namespace lockstep::demos {

// clang-format off
#define LOCKSTEP_VULKAN_DRAW(X)                                                                              \
    X(CreateImage) X(DestroyImage) X(GetImageMemoryRequirements) X(BindImageMemory)                          \
    X(CreateImageView) X(DestroyImageView) X(CreateSampler) X(DestroySampler)                                \
    X(CreateRenderPass) X(DestroyRenderPass) X(CreateFramebuffer) X(DestroyFramebuffer)                      \
    X(CreateGraphicsPipelines) X(FreeDescriptorSets)                                                         \
    X(CreateFence) X(DestroyFence) X(GetFenceStatus) X(WaitForFences) X(ResetFences) X(ResetCommandPool)     \
    X(CmdBeginRenderPass) X(CmdEndRenderPass) X(CmdBindVertexBuffers) X(CmdBindIndexBuffer)                  \
    X(CmdSetViewport) X(CmdSetScissor) X(CmdDrawIndexed) X(CmdCopyBufferToImage) X(CmdCopyImageToBuffer)
#define LOCKSTEP_VULKAN_PRESENT(X)                                                                           \
    X(CreateSwapchainKHR) X(DestroySwapchainKHR) X(GetSwapchainImagesKHR) X(AcquireNextImageKHR)             \
    X(QueuePresentKHR)
#define LOCKSTEP_VULKAN_SURFACE(X)                                                                           \
    X(DestroySurfaceKHR) X(GetPhysicalDeviceSurfaceSupportKHR) X(GetPhysicalDeviceSurfaceCapabilitiesKHR)    \
    X(GetPhysicalDeviceSurfaceFormatsKHR)
// clang-format on

struct DrawApi {
#define LOCKSTEP_VULKAN_MEMBER(function) PFN_vk##function function = nullptr;
    LOCKSTEP_VULKAN_DRAW(LOCKSTEP_VULKAN_MEMBER)
    LOCKSTEP_VULKAN_PRESENT(LOCKSTEP_VULKAN_MEMBER) ///< null without a window
    LOCKSTEP_VULKAN_SURFACE(LOCKSTEP_VULKAN_MEMBER) ///< null without a window
#undef LOCKSTEP_VULKAN_MEMBER
};

} // namespace lockstep::demos
