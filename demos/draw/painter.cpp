#include "demos/draw/painter.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "demos/draw/picture.h"
#include "engine/gpu/error.h"

namespace lockstep::demos {

using gpu::check;
using gpu::structure;

Painter::Painter(Graphics& graphics) : graphics_(graphics) {
    const VkDevice device = graphics.device().handle();
    try {
        auto pool = structure<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
        pool.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
        pool.queueFamilyIndex = graphics.device().drawing().family;
        check(graphics.vk().CreateCommandPool(device, &pool, nullptr, &pool_), "vkCreateCommandPool");
        auto allocate =
            structure<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
        allocate.commandPool = pool_;
        allocate.commandBufferCount = 1;
        check(graphics.vk().AllocateCommandBuffers(device, &allocate, &commands_),
              "vkAllocateCommandBuffers");
        const auto fence = structure<VkFenceCreateInfo>(VK_STRUCTURE_TYPE_FENCE_CREATE_INFO);
        check(graphics.draw().CreateFence(device, &fence, nullptr, &done_), "vkCreateFence");
        if (graphics.drawnSeconds()) {
            auto clock = structure<VkQueryPoolCreateInfo>(VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO);
            clock.queryType = VK_QUERY_TYPE_TIMESTAMP;
            clock.queryCount = 2;
            check(graphics.vk().CreateQueryPool(device, &clock, nullptr, &clock_), "vkCreateQueryPool");
        }
    } catch (...) {
        release();
        throw;
    }
}

Painter::~Painter() {
    try {
        wait();
    } catch (const std::exception&) {
        // Lost or hung: waiting longer is pointless.
    }
    release();
}

void Painter::release() noexcept {
    gpu::Device& device = graphics_.device();
    if (device.abandoned() || underWay_) return;
    if (clock_ != VK_NULL_HANDLE) graphics_.vk().DestroyQueryPool(device.handle(), clock_, nullptr);
    if (done_ != VK_NULL_HANDLE) graphics_.draw().DestroyFence(device.handle(), done_, nullptr);
    if (pool_ != VK_NULL_HANDLE) graphics_.vk().DestroyCommandPool(device.handle(), pool_, nullptr);
}

bool Painter::idle() {
    if (!underWay_) return true;
    const VkResult result = graphics_.draw().GetFenceStatus(graphics_.device().handle(), done_);
    if (result == VK_NOT_READY) {
        // A device that hangs may never report that it is lost.
        const auto passed = std::chrono::steady_clock::now() - submitted_;
        if (passed > graphics_.device().options().waitLimit) giveUp();
        return false;
    }
    underWay_ = false; // also when the device is lost
    check(result, "vkGetFenceStatus");
    frameDone();
    return true;
}

void Painter::wait() {
    if (!underWay_) return;
    gpu::Device& device = graphics_.device();
    const auto patience = device.abandoned() ? std::chrono::milliseconds(0) : device.options().waitLimit;
    const auto limit = std::chrono::duration_cast<std::chrono::nanoseconds>(patience).count();
    const VkResult result = graphics_.draw().WaitForFences(device.handle(), 1, &done_, VK_TRUE,
                                                           static_cast<std::uint64_t>(limit));
    if (result == VK_TIMEOUT) giveUp();
    underWay_ = false;
    check(result, "vkWaitForFences");
    frameDone();
}

void Painter::giveUp() {
    gpu::Device& device = graphics_.device();
    device.abandon();
    throw gpu::TimeoutError("'" + device.report().name +
                            "' did not finish a frame in time; it may hang; a smaller window helps, or "
                            "another device (--device)");
}

void Painter::frameDone() {
    graphics_.frameDone();
    if (!std::exchange(timed_, false)) return;
    gpu::Device& device = graphics_.device();
    std::uint64_t ticks[2] = {0, 0};
    check(graphics_.vk().GetQueryPoolResults(device.handle(), clock_, 0, 2, sizeof ticks, ticks,
                                             sizeof ticks[0], VK_QUERY_RESULT_64_BIT),
          "vkGetQueryPoolResults");
    const gpu::Limits& limits = device.limits();
    const std::uint64_t valid =
        limits.timestampBits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << limits.timestampBits) - 1;
    const auto passed = static_cast<double>((ticks[1] - ticks[0]) & valid);
    graphics_.addDrawn(passed * limits.timestampNanoseconds * 1e-9);
}

void Painter::drain() {
    wait();
    check(graphics_.draw().ResetFences(graphics_.device().handle(), 1, &done_), "vkResetFences");
    {
        const gpu::DrawQueue& queue = graphics_.device().drawing();
        const std::lock_guard lock(*queue.mutex);
        check(graphics_.vk().QueueSubmit(queue.queue, 0, nullptr, done_), "vkQueueSubmit");
    }
    underWay_ = true;
    wait();
}

void Painter::paint(UiRenderer& renderer, const FrameTarget& target, const ImDrawData& data,
                    const std::function<void(VkCommandBuffer)>& after) {
    wait();
    const gpu::DeviceApi& vk = graphics_.vk();
    const VkDevice device = graphics_.device().handle();
    check(graphics_.draw().ResetCommandPool(device, pool_, 0), "vkResetCommandPool");
    auto begin = structure<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    check(vk.BeginCommandBuffer(commands_, &begin), "vkBeginCommandBuffer");
    if (clock_ != VK_NULL_HANDLE) vk.CmdResetQueryPool(commands_, clock_, 0, 2);
    writeTime(0);
    gpu::Ticket ready = 0;
    for (const Picture* picture : graphics_.pending()) ready = std::max(ready, picture->waitsFor());
    renderer.record(commands_, target.framebuffer, target.extent, data);
    if (after) after(commands_);
    writeTime(1);
    check(vk.EndCommandBuffer(commands_), "vkEndCommandBuffer");
    submit(target, ready);
}

// Starts when all earlier submissions are done: the frame's time is its own share of the queue.
void Painter::writeTime(std::uint32_t query) {
    if (clock_ != VK_NULL_HANDLE)
        graphics_.vk().CmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, clock_, query);
}

void Painter::submit(const FrameTarget& target, gpu::Ticket ready) {
    VkSemaphore waits[2];
    VkPipelineStageFlags stages[2];
    std::uint64_t values[2];
    std::uint32_t waitCount = 0;
    const auto waitFor = [&](VkSemaphore semaphore, VkPipelineStageFlags stage, std::uint64_t value) {
        waits[waitCount] = semaphore;
        stages[waitCount] = stage;
        values[waitCount++] = value;
    };
    if (target.acquired != VK_NULL_HANDLE)
        waitFor(target.acquired, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, 0);
    if (ready > 0) waitFor(graphics_.device().timeline(), VK_PIPELINE_STAGE_TRANSFER_BIT, ready);
    auto timeline =
        structure<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    timeline.waitSemaphoreValueCount = waitCount;
    timeline.pWaitSemaphoreValues = values;
    auto info = structure<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO, &timeline);
    info.waitSemaphoreCount = waitCount;
    info.pWaitSemaphores = waits;
    info.pWaitDstStageMask = stages;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands_;
    info.signalSemaphoreCount = target.rendered == VK_NULL_HANDLE ? 0 : 1;
    info.pSignalSemaphores = &target.rendered;
    check(graphics_.draw().ResetFences(graphics_.device().handle(), 1, &done_), "vkResetFences");
    const gpu::DrawQueue& queue = graphics_.device().drawing();
    const std::lock_guard lock(*queue.mutex);
    check(graphics_.vk().QueueSubmit(queue.queue, 1, &info, done_), "vkQueueSubmit");
    underWay_ = true;
    submitted_ = std::chrono::steady_clock::now();
    timed_ = clock_ != VK_NULL_HANDLE;
}

VkFramebuffer createFramebuffer(Graphics& graphics, VkRenderPass pass, VkImageView view, VkExtent2D extent) {
    auto info = structure<VkFramebufferCreateInfo>(VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO);
    info.renderPass = pass;
    info.attachmentCount = 1;
    info.pAttachments = &view;
    info.width = extent.width;
    info.height = extent.height;
    info.layers = 1;
    VkFramebuffer framebuffer = VK_NULL_HANDLE;
    check(graphics.draw().CreateFramebuffer(graphics.device().handle(), &info, nullptr, &framebuffer),
          "vkCreateFramebuffer");
    return framebuffer;
}

Offscreen::Offscreen(Graphics& graphics)
    : graphics_(graphics), renderer_(graphics, Image::format, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL),
      painter_(graphics) {}

Offscreen::~Offscreen() { release(); }

void Offscreen::release() noexcept {
    if (framebuffer_ != VK_NULL_HANDLE && !graphics_.device().abandoned())
        graphics_.draw().DestroyFramebuffer(graphics_.device().handle(), framebuffer_, nullptr);
    framebuffer_ = VK_NULL_HANDLE;
}

void Offscreen::resize(std::uint32_t width, std::uint32_t height) {
    if (image_ && image_->extent().width == width && image_->extent().height == height) return;
    release();
    image_ = std::make_unique<Image>(graphics_, width, height,
                                     VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
    readback_ = std::make_unique<HostBuffer>(graphics_, static_cast<std::size_t>(width) * height * 4,
                                             VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    framebuffer_ = createFramebuffer(graphics_, renderer_.renderPass(), image_->view(), image_->extent());
}

Pixels Offscreen::paint(std::uint32_t width, std::uint32_t height, const ImDrawData& data) {
    painter_.wait();
    resize(width, height);
    painter_.paint(renderer_, {framebuffer_, image_->extent()}, data, [&](VkCommandBuffer commands) {
        VkBufferImageCopy region{};
        region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
        region.imageExtent = {width, height, 1};
        graphics_.draw().CmdCopyImageToBuffer(commands, image_->handle(),
                                              VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, readback_->handle(), 1,
                                              &region);
        auto toHost = structure<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
        toHost.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
        toHost.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
        graphics_.vk().CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                                          VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &toHost, 0, nullptr, 0, nullptr);
    });
    painter_.wait();
    readback_->toBeRead();
    Pixels pixels{width, height, std::vector<std::uint8_t>(readback_->size())};
    std::memcpy(pixels.rgba.data(), readback_->data(), readback_->size());
    return pixels;
}

} // namespace lockstep::demos
