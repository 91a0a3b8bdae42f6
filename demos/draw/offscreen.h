// Frames without a window: into an image that is read back.
#pragma once

#include <memory>
#include <vector>

#include "demos/draw/painter.h"

namespace lockstep::demos {

/// Pixels as files and tests want them: RGBA, row by row from the top.
struct Pixels {
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    std::vector<std::uint8_t> rgba;
};

class Offscreen {
  public:
    explicit Offscreen(Graphics& graphics);
    ~Offscreen();
    Offscreen(const Offscreen&) = delete;
    Offscreen& operator=(const Offscreen&) = delete;

    /// Draws one frame of that size and waits for it.
    Pixels paint(std::uint32_t width, std::uint32_t height, const ImDrawData& data);

  private:
    void resize(std::uint32_t width, std::uint32_t height);
    void release() noexcept;

    Graphics& graphics_;
    UiRenderer renderer_;
    Painter painter_;
    std::unique_ptr<Image> image_;
    std::unique_ptr<HostBuffer> readback_;
    VkFramebuffer framebuffer_ = VK_NULL_HANDLE;
};

VkFramebuffer createFramebuffer(Graphics& graphics, VkRenderPass pass, VkImageView view, VkExtent2D extent);

} // namespace lockstep::demos
