// Records frames and submits them, one at a time: the next one begins when the last is done, so nothing it
// uses needs a second copy.
#pragma once

#include <chrono>
#include <memory>

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
    explicit Painter(Graphics& graphics);
    /// Waits for the frame under way.
    ~Painter();
    Painter(const Painter&) = delete;
    Painter& operator=(const Painter&) = delete;

    /// Whether the last frame is done, so that the next may be drawn. Never waits. Throws gpu::GpuError;
    /// gpu::TimeoutError when it has not been done for longer than the device's options allow.
    bool idle();
    /// Waits until it is, for as long as the device's options allow. Throws gpu::TimeoutError.
    void wait();
    /// Waits, as long, for all that was submitted to the queue so far, presenting included. Throws likewise.
    void drain();

    /// Draws. `after` may record further commands on the picture. Throws gpu::GpuError.
    void paint(UiRenderer& renderer, const FrameTarget& target, const ImDrawData& data,
               const std::function<void(VkCommandBuffer)>& after = {});

  private:
    void submit(const FrameTarget& target, gpu::Ticket ready);
    void writeTime(std::uint32_t query);
    void frameDone();
    [[noreturn]] void giveUp();
    void release() noexcept;

    Graphics& graphics_;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    VkCommandBuffer commands_ = VK_NULL_HANDLE;
    VkFence done_ = VK_NULL_HANDLE;
    VkQueryPool clock_ = VK_NULL_HANDLE; ///< null where frames are not timed
    bool underWay_ = false;
    std::chrono::steady_clock::time_point submitted_; ///< the frame under way
    bool timed_ = false;                              ///< the frame under way
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
