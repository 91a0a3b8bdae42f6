// Drawing with Vulkan on a training device: what every drawing class shares, images, and memory that the
// host writes. Only the shell draws; exhibits see Picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "demos/draw/draw_api.h"
#include "engine/gpu/device.h"

namespace lockstep::demos {

class Picture;

/// Shared by everything that draws. One frame is under way at a time. It outlives devices: its users
/// release what they have on one, and go on with the next.
class Graphics {
  public:
    /// Draws with `device` from now on, which was made with DeviceOptions::drawing. Throws gpu::GpuError.
    explicit Graphics(gpu::Device& device) { attach(device); }
    ~Graphics() { detach(); }
    Graphics(const Graphics&) = delete;
    Graphics& operator=(const Graphics&) = delete;

    /// Leaves the device. Everything that was made with it is gone by now; no frame is under way.
    void detach() noexcept;
    /// After detach(): another one. Throws gpu::GpuError, and is detached then.
    void attach(gpu::Device& device);

    gpu::Device& device() { return *device_; }
    const gpu::DeviceApi& vk() const { return device_->vk(); }
    const DrawApi& draw() const { return draw_; }

    /// Whether a type of memory that is allowed has `wanted`.
    bool offers(const VkMemoryRequirements& needs, VkMemoryPropertyFlags wanted) const;
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

    /// Seconds that the shared queue has worked on frames so far, by the device's clock. Empty where that is
    /// not measured: there is a queue for each, or the queue has no clock.
    std::optional<double> drawnSeconds() const { return drawnSeconds_; }
    void addDrawn(double seconds) { *drawnSeconds_ += seconds; }

  private:
    void createLayouts();

    gpu::Device* device_ = nullptr;
    DrawApi draw_;
    VkDescriptorSetLayout pictureLayout_ = VK_NULL_HANDLE;
    VkDescriptorPool descriptorPool_ = VK_NULL_HANDLE;
    VkSampler samplers_[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    std::vector<std::function<void()>> retired_;
    std::vector<Picture*> pending_;
    std::optional<double> drawnSeconds_;
};

/// A buffer that the host writes and the device reads, or the other way round; always mapped. Where the
/// memory is not coherent, neither side sees the other's writes without a flush or an invalidation.
class HostBuffer {
  public:
    HostBuffer(Graphics& graphics, std::size_t bytes, VkBufferUsageFlags usage);
    ~HostBuffer();
    HostBuffer(const HostBuffer&) = delete;
    HostBuffer& operator=(const HostBuffer&) = delete;

    VkBuffer handle() const { return buffer_; }
    std::size_t size() const { return size_; }
    std::byte* data() const { return host_; }

    /// The host has written: submissions from now on see it.
    void written();
    /// The device has written, and is done: the host sees it.
    void toBeRead();

  private:
    VkMappedMemoryRange all() const;
    void release() noexcept;

    Graphics& graphics_;
    std::size_t size_ = 0;
    VkBuffer buffer_ = VK_NULL_HANDLE;
    VkDeviceMemory memory_ = VK_NULL_HANDLE;
    std::byte* host_ = nullptr;
    bool coherent_ = true;
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
    void release() noexcept;

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
