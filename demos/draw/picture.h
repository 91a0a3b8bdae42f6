// A picture that exhibits show: filled by the host, or by a kernel on the card without a detour.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <imgui.h>

#include "demos/draw/graphics.h"
#include "engine/gpu/buffer.h"

namespace lockstep::demos {

/// 8-bit RGBA, row by row from the top, four bytes a pixel (a little-endian word is 0xAABBGGRR, as IM_COL32).
class Picture {
  public:
    /// smooth: neighbouring pixels blend when enlarged; else every pixel is a sharp square.
    Picture(Graphics& graphics, std::uint32_t width, std::uint32_t height, bool smooth);
    ~Picture();
    Picture(const Picture&) = delete;
    Picture& operator=(const Picture&) = delete;

    std::uint32_t width() const { return image_->extent().width; }
    std::uint32_t height() const { return image_->extent().height; }

    /// For ImGui::Image and ImDrawList::AddImage.
    ImTextureID id() const;

    /// Shows width * height pixels from the next frame on.
    void upload(std::span<const std::uint32_t> pixels) {
        stage(pixels);
        want();
    }
    /// Shows what kernels have put into `view` (width * height words) once `ready` is done, from the next
    /// frame on. The buffer must live and stay as it is until that frame is done.
    void show(const gpu::BufferView& view, gpu::Ticket ready);

    // For the painter.
    VkDescriptorSet descriptor() const { return descriptor_; }
    gpu::Ticket waitsFor() const { return ready_; }
    void recordCopy(VkCommandBuffer commands);

  private:
    void stage(std::span<const std::uint32_t> pixels);
    void want();

    Graphics& graphics_;
    std::shared_ptr<Image> image_; // shared with the frame under way, like its source
    std::shared_ptr<HostBuffer> staging_;
    VkDescriptorSet descriptor_ = VK_NULL_HANDLE;
    VkImageLayout layout_ = VK_IMAGE_LAYOUT_UNDEFINED;
    VkBuffer source_ = VK_NULL_HANDLE;
    std::uint64_t sourceOffset_ = 0;
    gpu::Ticket ready_ = 0;
};

} // namespace lockstep::demos
