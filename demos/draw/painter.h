// Records frames and submits them, one at a time: the next one begins when the last is done, so nothing it
// uses needs a second copy.
#pragma once

#include <chrono>
#include <optional>

#include "demos/draw/graphics.h"
#include "demos/draw/png.h"
#include "demos/draw/ui_renderer.h"

namespace lockstep::demos {

/// Where a frame goes.
struct FrameTarget {
    VkFramebuffer framebuffer = VK_NULL_HANDLE;
    VkExtent2D extent{};
    VkSemaphore acquired = VK_NULL_HANDLE; ///< to wait for before drawing; may be null
    VkSemaphore rendered = VK_NULL_HANDLE; ///< to signal after drawing; may be null
};

class Painter {
  public:
    /// For frames of `format` that end in `finalLayout` (to be presented, or to be copied from).
    Painter(Graphics& graphics, VkFormat format, VkImageLayout finalLayout);
    /// Waits for the frame under way.
    ~Painter();

    VkRenderPass renderPass() const { return renderer_.renderPass(); }

    /// Whether the last frame is done, so that the next may be drawn. Never waits. Throws gpu::GpuError;
    /// gpu::TimeoutError when it has not been done for longer than the device's options allow.
    bool idle();
    /// Waits until it is, for as long as the device's options allow. Throws gpu::TimeoutError.
    void wait();
    /// Waits, as long, for all that was submitted to the queue so far, presenting included. Throws likewise.
    void drain();

    /// Draws. `after` may record further commands on the picture. Throws gpu::GpuError.
    void paint(const FrameTarget& target, const ImDrawData& data,
               const std::function<void(VkCommandBuffer)>& after = {});

  private:
    void submitFrame(const FrameTarget& target, gpu::Ticket ready);
    void submit(std::uint32_t count, const VkSubmitInfo* infos);
    void writeTime(std::uint32_t query);
    void frameDone();
    [[noreturn]] void giveUp();

    Graphics& graphics_;
    UiRenderer renderer_;
    Owned<VkCommandPool> pool_;
    VkCommandBuffer commands_ = VK_NULL_HANDLE;
    Owned<VkFence> done_;
    Owned<VkQueryPool> clock_; ///< null where frames are not timed
    bool underWay_ = false;
    std::chrono::steady_clock::time_point submitted_; ///< the frame under way
    bool timed_ = false;                              ///< the frame under way
};

class Offscreen {
  public:
    explicit Offscreen(Graphics& graphics)
        : graphics_(graphics), painter_(graphics, Image::format, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL) {}

    /// Draws one frame of that size and waits for it.
    Pixels paint(std::uint32_t width, std::uint32_t height, const ImDrawData& data);

  private:
    void resize(std::uint32_t width, std::uint32_t height);

    Graphics& graphics_;
    Painter painter_;
    std::optional<Image> image_;
    std::optional<HostBuffer> readback_;
    Owned<VkFramebuffer> framebuffer_;
};

Owned<VkFramebuffer> createFramebuffer(Graphics& graphics, VkRenderPass pass, VkImageView view,
                                       VkExtent2D extent);

} // namespace lockstep::demos
