// The images of a window, one framebuffer each.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "demos/draw/painter.h"
#include "demos/kit/worker.h"
#include "engine/gpu/error.h"

namespace lockstep::demos {

/// The window's surface is gone, for example because the display server restarted; another one can be made
/// for the same window.
class SurfaceLostError : public gpu::GpuError {
  public:
    using GpuError::GpuError;
};

class Swapchain {
  public:
    /// Takes the surface over. Throws gpu::GpuError when the device cannot show anything on it.
    Swapchain(Graphics& graphics, VkSurfaceKHR surface);

    VkFormat format() const { return format_.format; }

    /// Makes the images for a window of `size` pixels, as draw() does where it has to. False as there. No
    /// frame may be under way. Throws SurfaceLostError, gpu::GpuError: a device may offer a surface and fail
    /// here.
    bool rebuild(Painter& painter, VkExtent2D size);
    /// Draws one frame of `size` pixels. False when nothing can be drawn (a window of no size, one that
    /// changed meanwhile, or one whose images the screen keeps, because it is hidden): the next frame tries
    /// again. No frame may be under way or wait for show(). Throws
    /// SurfaceLostError, gpu::GpuError.
    bool draw(Painter& painter, VkExtent2D size, const ImDrawData& data);
    /// Shows what was drawn, once the painter is idle: a driver that waits for the frame within its call
    /// would hold the queue meanwhile. Nothing as long as the driver keeps that call, which may last while a
    /// window is hidden: the next show() looks again. False when the window changed. Throws likewise.
    std::optional<bool> show();
    /// Waits for a show() under way, a second at most. False when the driver still keeps it: the device is
    /// abandoned, and its queue must not be used any more. Where that is also the queue that trains, lanes
    /// wait for it, too: modes that wait for the screen are taken there only if there is no other.
    bool endShow();
    /// Seconds for which the last show() held a queue that training uses too; 0 where each has its own.
    double heldSeconds() const { return heldSeconds_; }

  private:
    VkPresentModeKHR chooseMode() const;

    struct Frame {
        Owned<VkImageView> view;
        Owned<VkSemaphore> rendered; ///< per image: presenting may still wait for it
        Owned<VkFramebuffer> framebuffer;
    };
    struct SurfaceDestroyer {
        using pointer = VkSurfaceKHR;
        void operator()(VkSurfaceKHR surface) const;
        Graphics* graphics;
    };

    Graphics& graphics_;
    std::unique_ptr<VkSurfaceKHR, SurfaceDestroyer> surface_;
    Owned<VkSemaphore> acquired_;
    Owned<VkSwapchainKHR> swapchain_;
    std::vector<Frame> frames_; ///< one per image
    VkSurfaceFormatKHR format_{};
    VkPresentModeKHR mode_ = VK_PRESENT_MODE_FIFO_KHR;
    VkExtent2D extent_{};
    std::uint32_t drawn_ = 0; ///< the image that waits for show()
    double heldSeconds_ = 0;
    bool stale_ = true;

    struct Call;
    std::shared_ptr<Call> call_; ///< under way
    std::unique_ptr<WorkQueue> calling_ = std::make_unique<WorkQueue>();
};

} // namespace lockstep::demos
