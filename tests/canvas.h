// Something to draw into without a window, and its painter.
#pragma once

#include "demos/draw/painter.h"
#include "tests/test_device.h"

namespace lockstep::test {

inline gpu::DeviceOptions drawingOptions() {
    gpu::DeviceOptions options = testDeviceOptions();
    options.drawing = true;
    return options;
}

struct Canvas {
    Canvas(demos::Graphics& drawn, std::uint32_t width, std::uint32_t height)
        : graphics(drawn), image(graphics, width, height, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT) {}
    /// Submits a frame that brings the pending pictures, and signals `rendered`, if any, when it is done.
    void paint(const ImDrawData& data = ImDrawData(), VkSemaphore rendered = VK_NULL_HANDLE) {
        painter.paint({framebuffer.get(), image.extent(), VK_NULL_HANDLE, rendered}, data);
    }

    demos::Graphics& graphics;
    demos::Image image;
    demos::Painter painter{graphics, demos::Image::format, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL};
    demos::Owned<VkFramebuffer> framebuffer =
        demos::createFramebuffer(graphics, painter.renderPass(), image.view(), image.extent());
};

} // namespace lockstep::test
