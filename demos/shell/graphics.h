// Drawing with Vulkan on a training device: the functions that the engine does not call, images, and memory
// that the host writes. Only the shell draws; exhibits see Picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "engine/gpu/device.h"

namespace lockstep::demos {

class Picture;

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

/// What everything that draws shares. One frame is under way at a time.
class Graphics {
  public:
    /// `device` was made with DeviceOptions::drawing, and outlives this. Throws gpu::GpuError.
    explicit Graphics(gpu::Device& device);
    ~Graphics();
    Graphics(const Graphics&) = delete;
    Graphics& operator=(const Graphics&) = delete;

    gpu::Device& device() { return device_; }
    const gpu::DeviceApi& vk() const { return device_.vk(); }
    const DrawApi& draw() const { return draw_; }

    /// Memory of the first type that has `wanted`. Throws gpu::GpuError.
    VkDeviceMemory allocate(const VkMemoryRequirements& needs, VkMemoryPropertyFlags wanted);

    /// One combined image and sampler at binding 0, for the fragment shader.
    VkDescriptorSetLayout pictureLayout() const { return pictureLayout_; }
    VkDescriptorPool descriptorPool() const { return descriptorPool_; }
    VkSampler sampler(bool smooth) const { return samplers_[smooth ? 1 : 0]; }

    /// Destroys something that the frame under way may still use: once that frame is done.
    void afterFrame(std::function<void()> destroy) { retired_.push_back(std::move(destroy)); }
    /// To be called when no frame is under way.
    void frameDone();

    /// Pictures whose contents the next frame has to bring.
    std::vector<Picture*>& pending() { return pending_; }

  private:
    void createLayouts();
    void release() noexcept;

    gpu::Device& device_;
    DrawApi draw_;
    VkDescriptorSetLayout pictureLayout_ = VK_NULL_HANDLE;
    VkDescriptorPool descriptorPool_ = VK_NULL_HANDLE;
    VkSampler samplers_[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    std::vector<std::function<void()>> retired_;
    std::vector<Picture*> pending_;
};

/// A buffer that the host writes and the device reads, or the other way round; always mapped.
class HostBuffer {
  public:
    HostBuffer(Graphics& graphics, std::size_t bytes, VkBufferUsageFlags usage);
    ~HostBuffer();
    HostBuffer(const HostBuffer&) = delete;
    HostBuffer& operator=(const HostBuffer&) = delete;

    VkBuffer handle() const { return buffer_; }
    std::size_t size() const { return size_; }
    std::byte* data() const { return host_; }

  private:
    void release() noexcept;

    Graphics& graphics_;
    std::size_t size_ = 0;
    VkBuffer buffer_ = VK_NULL_HANDLE;
    VkDeviceMemory memory_ = VK_NULL_HANDLE;
    std::byte* host_ = nullptr;
};

/// An image of 8-bit RGBA in device memory with its view.
class Image {
  public:
    static constexpr VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;

    Image(Graphics& graphics, std::uint32_t width, std::uint32_t height, VkImageUsageFlags usage);
    ~Image();
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;

    VkImage handle() const { return image_; }
    VkImageView view() const { return view_; }
    VkExtent2D extent() const { return extent_; }

  private:
    Graphics& graphics_;
    VkExtent2D extent_{};
    VkImage image_ = VK_NULL_HANDLE;
    VkDeviceMemory memory_ = VK_NULL_HANDLE;
    VkImageView view_ = VK_NULL_HANDLE;
};

/// Moves an image from one layout and use to another: the hand-over between copies, shaders and the window.
struct ImageUse {
    VkImageLayout layout = VK_IMAGE_LAYOUT_UNDEFINED;
    VkPipelineStageFlags stage = VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT;
    VkAccessFlags access = 0;
};
void changeUse(const gpu::DeviceApi& vk, VkCommandBuffer commands, VkImage image, const ImageUse& from,
               const ImageUse& to);

VkImageView createView(Graphics& graphics, VkImage image, VkFormat format);

} // namespace lockstep::demos
