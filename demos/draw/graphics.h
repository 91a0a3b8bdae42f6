// Drawing with Vulkan on a training device: what every drawing class shares, images, and memory that the
// host writes. Only the shell draws; exhibits see Picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "engine/gpu/owned.h"

namespace lockstep::demos {

class Picture;

using gpu::Owned;

/// Shared by everything that draws. One frame is under way at a time. It outlives devices: its users
/// release what they have on one, and go on with the next.
class Graphics {
  public:
    /// Draws with `device` from now on, which was made with DeviceOptions::drawing. Throws gpu::GpuError.
    explicit Graphics(gpu::Device& device) { attach(device); }
    ~Graphics() { detach(); }

    /// Leaves the device. Everything that was made with it is gone by now; no frame is under way.
    void detach() noexcept;
    /// After detach(): another one. Throws gpu::GpuError, and is detached then.
    void attach(gpu::Device& device);

    gpu::Device& device() { return *device_; }
    const gpu::DeviceApi& vk() const { return device_->vk(); }

    /// Memory of the first type that has `wanted`. Throws gpu::GpuError.
    Owned<VkDeviceMemory> allocate(const VkMemoryRequirements& needs, VkMemoryPropertyFlags wanted);

    /// One combined image and sampler at binding 0, for the fragment shader.
    VkDescriptorSetLayout pictureLayout() const { return pictureLayout_.get(); }
    VkDescriptorPool descriptorPool() const { return descriptorPool_.get(); }
    VkSampler sampler(bool smooth) const { return (smooth ? smooth_ : sharp_).get(); }

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
    Owned<VkSampler> sharp_;
    Owned<VkSampler> smooth_;
    Owned<VkDescriptorSetLayout> pictureLayout_;
    Owned<VkDescriptorPool> descriptorPool_;
    std::vector<std::function<void()>> retired_;
    std::vector<Picture*> pending_;
    std::optional<double> drawnSeconds_;
};

/// A buffer that the host writes and the device reads, or the other way round; always mapped. Where the
/// memory is not coherent, neither side sees the other's writes without a flush or an invalidation.
class HostBuffer {
  public:
    HostBuffer(Graphics& graphics, std::size_t bytes, VkBufferUsageFlags usage);

    VkBuffer handle() const { return buffer_.get(); }
    std::size_t size() const { return size_; }
    std::byte* data() const { return host_; }

    /// The host has written: submissions from now on see it.
    void written();
    /// The device has written, and is done: the host sees it.
    void toBeRead();

  private:
    Graphics& graphics_;
    std::size_t size_ = 0;
    Owned<VkDeviceMemory> memory_;
    Owned<VkBuffer> buffer_;
    std::byte* host_ = nullptr;
    bool coherent_ = true;
    VkMappedMemoryRange all_; ///< of the memory: no range of it could be misaligned
};

/// An image of 8-bit RGBA in device memory with its view.
class Image {
  public:
    static constexpr VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;

    Image(Graphics& graphics, std::uint32_t width, std::uint32_t height, VkImageUsageFlags usage);

    VkImage handle() const { return image_.get(); }
    VkImageView view() const { return view_.get(); }
    VkExtent2D extent() const { return extent_; }
    /// All of it, for a copy from or to a buffer with its pixels row by row from `offset` (bytes) on.
    VkBufferImageCopy copyRegion(VkDeviceSize offset = 0) const {
        return {offset, 0, 0, {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, {}, {extent_.width, extent_.height, 1}};
    }

  private:
    VkExtent2D extent_;
    Owned<VkDeviceMemory> memory_;
    Owned<VkImage> image_;
    Owned<VkImageView> view_;
};

Owned<VkImageView> createView(Graphics& graphics, VkImage image, VkFormat format);

} // namespace lockstep::demos
