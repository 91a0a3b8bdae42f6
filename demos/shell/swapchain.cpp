#include "demos/shell/swapchain.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <thread>

namespace lockstep::demos {

using gpu::structure;

namespace {

// A lost surface stays lost: every later call fails the same way.
void check(VkResult result, const char* call) {
    if (result == VK_ERROR_SURFACE_LOST_KHR)
        throw SurfaceLostError(std::string(call) + " failed: VK_ERROR_SURFACE_LOST_KHR.");
    gpu::check(result, call);
}

Owned<VkSemaphore> createSemaphore(Graphics& graphics) {
    const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, nullptr, 0};
    return gpu::create(graphics.device(), graphics.vk().CreateSemaphore, graphics.vk().DestroySemaphore, info,
                       "vkCreateSemaphore");
}

bool changedMeanwhile(VkResult result) { return result == VK_ERROR_OUT_OF_DATE_KHR; }

// Some compositors keep a hidden window's images. This short, races go on meanwhile.
constexpr std::uint64_t acquireLimit = 50'000'000; // ns
// Most drivers return at once: then the same frame goes on.
constexpr std::chrono::milliseconds usualShow{2};
constexpr std::chrono::seconds longestEnd{1};

} // namespace

/// A call of vkQueuePresentKHR. It may outlive the swapchain and the device.
struct Swapchain::Call {
    std::promise<VkResult> made;
    std::future<VkResult> result = made.get_future();
    double seconds = 0;
    std::mutex mutex;  ///< guards what follows
    bool left = false; ///< the swapchain waits no longer, and the queue's mutex may be gone
};

void Swapchain::SurfaceDestroyer::operator()(VkSurfaceKHR surface) const {
    if (!graphics->device().abandoned())
        graphics->device().instanceApi().DestroySurfaceKHR(graphics->device().instance(), surface, nullptr);
}

Swapchain::Swapchain(Graphics& graphics, VkSurfaceKHR surface)
    : graphics_(graphics), surface_(surface, {&graphics}) {
    gpu::Device& device = graphics_.device();
    const VkPhysicalDevice physical = device.physical();
    VkBool32 supported = VK_FALSE;
    check(device.instanceApi().GetPhysicalDeviceSurfaceSupportKHR(physical, device.drawing().family,
                                                                  surface_.get(), &supported),
          "vkGetPhysicalDeviceSurfaceSupportKHR");
    if (supported == VK_FALSE)
        throw gpu::GpuError("'" + device.report().name +
                            "' cannot show a window on this display; choose another with --device");

    const auto formats = gpu::enumerate<VkSurfaceFormatKHR>([&](auto* count, auto* out) {
        check(device.instanceApi().GetPhysicalDeviceSurfaceFormatsKHR(physical, surface_.get(), count, out),
              "vkGetPhysicalDeviceSurfaceFormatsKHR");
    });
    if (formats.empty()) throw gpu::GpuError("the window's surface offers no pixel format");
    // Colours are written as they are meant to be seen; sRGB formats would convert them once more.
    const auto plain = std::ranges::find_if(formats, [](const VkSurfaceFormatKHR& format) {
        return format.format == VK_FORMAT_B8G8R8A8_UNORM || format.format == VK_FORMAT_R8G8B8A8_UNORM;
    });
    format_ = plain == formats.end() ? formats.front() : *plain;
    mode_ = chooseMode();
    acquired_ = createSemaphore(graphics);
}

// Waiting for the screen (FIFO) would hold up training where both use one queue, and may last for as long as
// a window is hidden. The caller paces frames anyway.
VkPresentModeKHR Swapchain::chooseMode() const {
    const gpu::Device& device = graphics_.device();
    const auto offered = gpu::enumerate<VkPresentModeKHR>([&](auto* count, auto* out) {
        check(device.instanceApi().GetPhysicalDeviceSurfacePresentModesKHR(device.physical(), surface_.get(),
                                                                           count, out),
              "vkGetPhysicalDeviceSurfacePresentModesKHR");
    });
    const auto has = [&](VkPresentModeKHR mode) { return std::ranges::find(offered, mode) != offered.end(); };
    if (has(VK_PRESENT_MODE_MAILBOX_KHR)) return VK_PRESENT_MODE_MAILBOX_KHR;
    const bool tears = device.drawing().shared && has(VK_PRESENT_MODE_IMMEDIATE_KHR);
    return tears ? VK_PRESENT_MODE_IMMEDIATE_KHR : VK_PRESENT_MODE_FIFO_KHR;
}

bool Swapchain::rebuild(Painter& painter, VkExtent2D size) {
    VkSurfaceCapabilitiesKHR offered{};
    check(graphics_.device().instanceApi().GetPhysicalDeviceSurfaceCapabilitiesKHR(
              graphics_.device().physical(), surface_.get(), &offered),
          "vkGetPhysicalDeviceSurfaceCapabilitiesKHR");
    VkExtent2D extent = offered.currentExtent;
    if (extent.width == std::numeric_limits<std::uint32_t>::max())
        extent = {std::clamp(size.width, offered.minImageExtent.width, offered.maxImageExtent.width),
                  std::clamp(size.height, offered.minImageExtent.height, offered.maxImageExtent.height)};
    if (extent.width == 0 || extent.height == 0) return false;

    const VkDevice device = graphics_.device().handle();
    painter.drain(); // presenting may still use the old images
    frames_.clear();
    const Owned<VkSwapchainKHR> old = std::move(swapchain_);
    auto info = structure<VkSwapchainCreateInfoKHR>(VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR);
    info.surface = surface_.get();
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
    info.presentMode = mode_;
    info.clipped = VK_TRUE;
    info.oldSwapchain = old.get();
    VkSwapchainKHR swapchain = VK_NULL_HANDLE;
    const VkResult created = graphics_.vk().CreateSwapchainKHR(device, &info, nullptr, &swapchain);
    if (changedMeanwhile(created)) return false;
    check(created, "vkCreateSwapchainKHR");
    swapchain_ = {swapchain, {&graphics_.device(), graphics_.vk().DestroySwapchainKHR}};

    const auto images = gpu::enumerate<VkImage>([&](auto* count, auto* out) {
        check(graphics_.vk().GetSwapchainImagesKHR(device, swapchain, count, out), "vkGetSwapchainImagesKHR");
    });
    for (const VkImage image : images) {
        Frame& frame = frames_.emplace_back();
        frame.view = createView(graphics_, image, format_.format);
        frame.framebuffer = createFramebuffer(graphics_, painter.renderPass(), frame.view.get(), extent);
        frame.rendered = createSemaphore(graphics_);
    }
    extent_ = extent;
    stale_ = false;
    return true;
}

bool Swapchain::draw(Painter& painter, VkExtent2D size, const ImDrawData& data) {
    // Not every driver says that a window was resized: its size is compared every frame.
    stale_ = stale_ || size.width != extent_.width || size.height != extent_.height;
    if (stale_ && !rebuild(painter, size)) return false;
    const VkSwapchainKHR swapchain = swapchain_.get();
    const VkResult acquired = graphics_.vk().AcquireNextImageKHR(
        graphics_.device().handle(), swapchain, acquireLimit, acquired_.get(), VK_NULL_HANDLE, &drawn_);
    if (acquired == VK_TIMEOUT || acquired == VK_NOT_READY) return false;
    if (changedMeanwhile(acquired)) {
        stale_ = true;
        return false;
    }
    if (acquired != VK_SUBOPTIMAL_KHR) check(acquired, "vkAcquireNextImageKHR");
    const Frame& frame = frames_[drawn_];
    painter.paint({frame.framebuffer.get(), extent_, acquired_.get(), frame.rendered.get()}, data);
    return true;
}

std::optional<bool> Swapchain::show() {
    const gpu::DrawQueue& queue = graphics_.device().drawing();
    if (!call_) {
        call_ = std::make_shared<Call>();
        calling_->post("", [call = call_, queue, swapchain = swapchain_.get(), image = drawn_,
                            rendered = frames_[drawn_].rendered.get(),
                            present = graphics_.vk().QueuePresentKHR](const std::atomic<bool>&) {
            const VkPresentInfoKHR info{
                VK_STRUCTURE_TYPE_PRESENT_INFO_KHR, nullptr, 1, &rendered, 1, &swapchain, &image, nullptr};
            std::unique_lock lock(*queue.mutex, std::defer_lock);
            for (;;) { // the mutex is there until `left`
                {
                    const std::lock_guard still(call->mutex);
                    if (call->left) return;
                    if (lock.try_lock()) break;
                }
                std::this_thread::sleep_for(std::chrono::microseconds(100));
            }
            const auto begin = std::chrono::steady_clock::now();
            const VkResult presented = present(queue.queue, &info);
            call->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            const std::lock_guard still(call->mutex);
            if (call->left) return void(lock.release());
            lock.unlock();
            call->made.set_value(presented);
        });
    }
    if (call_->result.wait_for(usualShow) != std::future_status::ready) return {};
    const VkResult presented = call_->result.get();
    heldSeconds_ = queue.shared ? call_->seconds : 0;
    call_.reset();
    if (changedMeanwhile(presented) || presented == VK_SUBOPTIMAL_KHR)
        stale_ = true;
    else
        check(presented, "vkQueuePresentKHR");
    return !changedMeanwhile(presented);
}

bool Swapchain::endShow() {
    if (!call_ || call_->result.wait_for(longestEnd) == std::future_status::ready) return true;
    const std::lock_guard lock(call_->mutex);
    if (call_->result.wait_for(std::chrono::seconds(0)) == std::future_status::ready) return true;
    call_->left = true;
    graphics_.device().abandon();
    static_cast<void>(calling_.release()); // its thread may never end
    return false;
}

} // namespace lockstep::demos
