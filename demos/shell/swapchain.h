// The images of a window, one framebuffer each.
#pragma once

#include <vector>

#include "demos/draw/painter.h"
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

    /// Draws and shows one frame of `size` pixels. False when nothing could be shown (a window of no size, or
    /// one that changed meanwhile): the next frame tries again. No frame may be under way. Throws
    /// SurfaceLostError, gpu::GpuError.
    bool present(Painter& painter, VkExtent2D size, const ImDrawData& data);

  private:
    bool rebuild(Painter& painter, VkExtent2D size);

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
    VkExtent2D extent_{};
    bool stale_ = true;
};

} // namespace lockstep::demos
