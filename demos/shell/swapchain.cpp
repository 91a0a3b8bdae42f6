#include "demos/shell/swapchain.h"

#include <algorithm>
#include <limits>
#include <string>

namespace lockstep::demos {

using gpu::structure;

namespace {

// A lost surface stays lost: every later call fails the same way.
void check(VkResult result, const char* call) {
    if (result == VK_ERROR_SURFACE_LOST_KHR)
        throw SurfaceLostError(std::string(call) + " failed: VK_ERROR_SURFACE_LOST_KHR.");
    gpu::check(result, call);
}

VkSemaphore createSemaphore(Graphics& graphics) {
    const auto info = structure<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
    VkSemaphore semaphore = VK_NULL_HANDLE;
    check(graphics.vk().CreateSemaphore(graphics.device().handle(), &info, nullptr, &semaphore),
          "vkCreateSemaphore");
    return semaphore;
}

bool changedMeanwhile(VkResult result) {
    return result == VK_ERROR_OUT_OF_DATE_KHR || result == VK_TIMEOUT || result == VK_NOT_READY;
}

constexpr std::uint64_t acquireLimit = 1'000'000'000; // ns

} // namespace

Swapchain::Swapchain(Graphics& graphics, VkSurfaceKHR surface) : graphics_(graphics), surface_(surface) {
    try {
        requireSupport();
        chooseFormat();
        acquired_ = createSemaphore(graphics);
    } catch (...) {
        release();
        throw;
    }
}

Swapchain::~Swapchain() { release(); }

void Swapchain::requireSupport() {
    VkBool32 supported = VK_FALSE;
    gpu::Device& device = graphics_.device();
    check(graphics_.draw().GetPhysicalDeviceSurfaceSupportKHR(device.physical(), device.drawing().family,
                                                              surface_, &supported),
          "vkGetPhysicalDeviceSurfaceSupportKHR");
    if (supported == VK_FALSE)
        throw gpu::GpuError("'" + device.report().name +
                            "' cannot show a window on this display; choose another with --device");
}

void Swapchain::release() noexcept {
    if (graphics_.device().abandoned()) return;
    releaseImages();
    const VkDevice device = graphics_.device().handle();
    if (swapchain_ != VK_NULL_HANDLE) graphics_.draw().DestroySwapchainKHR(device, swapchain_, nullptr);
    if (acquired_ != VK_NULL_HANDLE) graphics_.vk().DestroySemaphore(device, acquired_, nullptr);
    graphics_.draw().DestroySurfaceKHR(graphics_.device().instance(), surface_, nullptr);
}

void Swapchain::chooseFormat() {
    const VkPhysicalDevice physical = graphics_.device().physical();
    std::uint32_t count = 0;
    check(graphics_.draw().GetPhysicalDeviceSurfaceFormatsKHR(physical, surface_, &count, nullptr),
          "vkGetPhysicalDeviceSurfaceFormatsKHR");
    std::vector<VkSurfaceFormatKHR> formats(count);
    check(graphics_.draw().GetPhysicalDeviceSurfaceFormatsKHR(physical, surface_, &count, formats.data()),
          "vkGetPhysicalDeviceSurfaceFormatsKHR");
    if (formats.empty()) throw gpu::GpuError("the window's surface offers no pixel format");
    format_ = formats.front();
    // Colours are written as they are meant to be seen; sRGB formats would convert them once more.
    for (const VkSurfaceFormatKHR& format : formats)
        if (format.format == VK_FORMAT_B8G8R8A8_UNORM || format.format == VK_FORMAT_R8G8B8A8_UNORM) {
            format_ = format;
            break;
        }
}

void Swapchain::releaseImages() noexcept {
    const VkDevice device = graphics_.device().handle();
    for (const Frame& frame : frames_) {
        graphics_.draw().DestroyFramebuffer(device, frame.framebuffer, nullptr);
        graphics_.draw().DestroyImageView(device, frame.view, nullptr);
        graphics_.vk().DestroySemaphore(device, frame.rendered, nullptr);
    }
    frames_.clear();
}

bool Swapchain::rebuild(Painter& painter, UiRenderer& renderer, VkExtent2D size) {
    VkSurfaceCapabilitiesKHR offered{};
    check(graphics_.draw().GetPhysicalDeviceSurfaceCapabilitiesKHR(graphics_.device().physical(), surface_,
                                                                   &offered),
          "vkGetPhysicalDeviceSurfaceCapabilitiesKHR");
    VkExtent2D extent = offered.currentExtent;
    if (extent.width == std::numeric_limits<std::uint32_t>::max())
        extent = {std::clamp(size.width, offered.minImageExtent.width, offered.maxImageExtent.width),
                  std::clamp(size.height, offered.minImageExtent.height, offered.maxImageExtent.height)};
    if (extent.width == 0 || extent.height == 0) return false;

    const VkDevice device = graphics_.device().handle();
    painter.drain(); // presenting may still use the old images
    releaseImages();
    const VkSwapchainKHR old = swapchain_;
    auto info = structure<VkSwapchainCreateInfoKHR>(VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR);
    info.surface = surface_;
    info.minImageCount = offered.minImageCount + 1;
    if (offered.maxImageCount > 0) info.minImageCount = std::min(info.minImageCount, offered.maxImageCount);
    info.imageFormat = format_.format;
    info.imageColorSpace = format_.colorSpace;
    info.imageExtent = extent;
    info.imageArrayLayers = 1;
    info.imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    info.preTransform = offered.currentTransform;
    const bool opaque = (offered.supportedCompositeAlpha & VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR) != 0;
    info.compositeAlpha = opaque ? VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR : VK_COMPOSITE_ALPHA_INHERIT_BIT_KHR;
    info.presentMode = VK_PRESENT_MODE_FIFO_KHR;
    info.clipped = VK_TRUE;
    info.oldSwapchain = old;
    swapchain_ = VK_NULL_HANDLE;
    const VkResult created = graphics_.draw().CreateSwapchainKHR(device, &info, nullptr, &swapchain_);
    if (old != VK_NULL_HANDLE) graphics_.draw().DestroySwapchainKHR(device, old, nullptr);
    if (changedMeanwhile(created)) return false;
    check(created, "vkCreateSwapchainKHR");

    std::uint32_t count = 0;
    check(graphics_.draw().GetSwapchainImagesKHR(device, swapchain_, &count, nullptr),
          "vkGetSwapchainImagesKHR");
    std::vector<VkImage> images(count);
    check(graphics_.draw().GetSwapchainImagesKHR(device, swapchain_, &count, images.data()),
          "vkGetSwapchainImagesKHR");
    for (const VkImage image : images) {
        Frame& frame = frames_.emplace_back();
        frame.view = createView(graphics_, image, format_.format);
        frame.framebuffer = createFramebuffer(graphics_, renderer.renderPass(), frame.view, extent);
        frame.rendered = createSemaphore(graphics_);
    }
    extent_ = extent;
    stale_ = false;
    return true;
}

bool Swapchain::present(Painter& painter, UiRenderer& renderer, VkExtent2D size, const ImDrawData& data) {
    // Not every driver says that a window was resized: its size is compared every frame.
    if (stale_ || size.width != extent_.width || size.height != extent_.height) stale_ = true;
    if (stale_ && !rebuild(painter, renderer, size)) return false;
    const VkDevice device = graphics_.device().handle();
    std::uint32_t index = 0;
    const VkResult acquired = graphics_.draw().AcquireNextImageKHR(device, swapchain_, acquireLimit,
                                                                   acquired_, VK_NULL_HANDLE, &index);
    if (changedMeanwhile(acquired)) {
        stale_ = true;
        return false;
    }
    if (acquired != VK_SUBOPTIMAL_KHR) check(acquired, "vkAcquireNextImageKHR");
    const Frame& frame = frames_[index];
    painter.paint(renderer, {frame.framebuffer, extent_, acquired_, frame.rendered}, data);
    auto info = structure<VkPresentInfoKHR>(VK_STRUCTURE_TYPE_PRESENT_INFO_KHR);
    info.waitSemaphoreCount = 1;
    info.pWaitSemaphores = &frame.rendered;
    info.swapchainCount = 1;
    info.pSwapchains = &swapchain_;
    info.pImageIndices = &index;
    const gpu::DrawQueue& queue = graphics_.device().drawing();
    VkResult presented = VK_SUCCESS;
    {
        const std::lock_guard lock(*queue.mutex);
        presented = graphics_.draw().QueuePresentKHR(queue.queue, &info);
    }
    if (changedMeanwhile(presented) || presented == VK_SUBOPTIMAL_KHR)
        stale_ = true;
    else
        check(presented, "vkQueuePresentKHR");
    return !changedMeanwhile(presented);
}

} // namespace lockstep::demos
