#include "demos/draw/painter.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "demos/draw/picture.h"
#include "engine/gpu/error.h"

namespace lockstep::demos {

using gpu::check;
using gpu::structure;

Painter::Painter(Graphics& graphics, VkFormat format, VkImageLayout finalLayout)
    : graphics_(graphics), renderer_(graphics, format, finalLayout) {
    gpu::Device& device = graphics.device();
    const gpu::DeviceApi& vk = graphics.vk();
    const VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, nullptr,
                                       VK_COMMAND_POOL_CREATE_TRANSIENT_BIT, device.drawing().family};
    pool_ = gpu::create(device, vk.CreateCommandPool, vk.DestroyCommandPool, pool, "vkCreateCommandPool");
    const VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr,
                                               pool_.get(), VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
    check(vk.AllocateCommandBuffers(device.handle(), &allocate, &commands_), "vkAllocateCommandBuffers");
    const VkFenceCreateInfo fence{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, nullptr, 0};
    done_ = gpu::create(device, vk.CreateFence, vk.DestroyFence, fence, "vkCreateFence");
    if (!graphics.drawnSeconds()) return;
    const VkQueryPoolCreateInfo clock{
        VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, nullptr, 0, VK_QUERY_TYPE_TIMESTAMP, 2, 0};
    clock_ = gpu::create(device, vk.CreateQueryPool, vk.DestroyQueryPool, clock, "vkCreateQueryPool");
}

Painter::~Painter() {
    try {
        wait();
    } catch (const std::exception&) {
        // Lost, or hung and now abandoned: waiting longer is pointless.
    }
}

bool Painter::idle() {
    if (!underWay_) return true;
    const VkResult result = graphics_.vk().GetFenceStatus(graphics_.device().handle(), done_.get());
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
    const gpu::Device& device = graphics_.device();
    const std::chrono::nanoseconds limit =
        device.abandoned() ? std::chrono::milliseconds(0) : device.options().waitLimit;
    const VkFence done = done_.get();
    const VkResult result = graphics_.vk().WaitForFences(device.handle(), 1, &done, VK_TRUE,
                                                         static_cast<std::uint64_t>(limit.count()));
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
    check(graphics_.vk().GetQueryPoolResults(device.handle(), clock_.get(), 0, 2, sizeof ticks, ticks,
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
    submit(0, nullptr);
    wait();
}

void Painter::paint(const FrameTarget& target, const ImDrawData& data,
                    const std::function<void(VkCommandBuffer)>& after) {
    wait();
    const gpu::DeviceApi& vk = graphics_.vk();
    const VkDevice device = graphics_.device().handle();
    check(vk.ResetCommandPool(device, pool_.get(), 0), "vkResetCommandPool");
    const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                         VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, nullptr};
    check(vk.BeginCommandBuffer(commands_, &begin), "vkBeginCommandBuffer");
    if (clock_) vk.CmdResetQueryPool(commands_, clock_.get(), 0, 2);
    writeTime(0);
    gpu::Ticket ready = 0;
    for (const Picture* picture : graphics_.pending()) ready = std::max(ready, picture->waitsFor());
    renderer_.record(commands_, target.framebuffer, target.extent, data);
    if (after) after(commands_);
    writeTime(1);
    check(vk.EndCommandBuffer(commands_), "vkEndCommandBuffer");
    submitFrame(target, ready);
}

// Starts when all earlier submissions are done: the frame's time is its own share of the queue.
void Painter::writeTime(std::uint32_t query) {
    if (clock_)
        graphics_.vk().CmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, clock_.get(),
                                         query);
}

void Painter::submitFrame(const FrameTarget& target, gpu::Ticket ready) {
    const VkSemaphore waits[] = {target.acquired, graphics_.device().timeline()};
    constexpr VkPipelineStageFlags stages[] = {VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                                               VK_PIPELINE_STAGE_TRANSFER_BIT};
    const std::uint64_t values[] = {0, ready};
    const std::uint32_t first = target.acquired == VK_NULL_HANDLE ? 1 : 0;
    const std::uint32_t count = (ready > 0 ? 2 : 1) - first;
    VkTimelineSemaphoreSubmitInfo timeline{
        VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, nullptr, count, values + first, 0, nullptr};
    auto info = structure<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO, &timeline);
    info.waitSemaphoreCount = count;
    info.pWaitSemaphores = waits + first;
    info.pWaitDstStageMask = stages + first;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands_;
    info.signalSemaphoreCount = target.rendered == VK_NULL_HANDLE ? 0 : 1;
    info.pSignalSemaphores = &target.rendered;
    submit(1, &info);
    submitted_ = std::chrono::steady_clock::now();
    timed_ = clock_ != nullptr;
}

void Painter::submit(std::uint32_t count, const VkSubmitInfo* infos) {
    const VkFence done = done_.get();
    check(graphics_.vk().ResetFences(graphics_.device().handle(), 1, &done), "vkResetFences");
    const gpu::DrawQueue& queue = graphics_.device().drawing();
    const std::lock_guard lock(*queue.mutex);
    check(graphics_.vk().QueueSubmit(queue.queue, count, infos, done), "vkQueueSubmit");
    underWay_ = true;
}

Owned<VkFramebuffer> createFramebuffer(Graphics& graphics, VkRenderPass pass, VkImageView view,
                                       VkExtent2D extent) {
    auto info = structure<VkFramebufferCreateInfo>(VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO);
    info.renderPass = pass;
    info.attachmentCount = 1;
    info.pAttachments = &view;
    info.width = extent.width;
    info.height = extent.height;
    info.layers = 1;
    return gpu::create(graphics.device(), graphics.vk().CreateFramebuffer, graphics.vk().DestroyFramebuffer,
                       info, "vkCreateFramebuffer");
}

void Offscreen::resize(std::uint32_t width, std::uint32_t height) {
    if (image_ && image_->extent().width == width && image_->extent().height == height) return;
    framebuffer_.reset();
    image_.emplace(graphics_, width, height,
                   VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
    readback_.emplace(graphics_, std::size_t{width} * height * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    framebuffer_ = createFramebuffer(graphics_, painter_.renderPass(), image_->view(), image_->extent());
}

Pixels Offscreen::paint(std::uint32_t width, std::uint32_t height, const ImDrawData& data) {
    painter_.wait();
    resize(width, height);
    painter_.paint({framebuffer_.get(), image_->extent()}, data, [&](VkCommandBuffer commands) {
        const VkBufferImageCopy region = image_->copyRegion();
        graphics_.vk().CmdCopyImageToBuffer(commands, image_->handle(), VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                            readback_->handle(), 1, &region);
        const VkMemoryBarrier toHost{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_TRANSFER_WRITE_BIT,
                                     VK_ACCESS_HOST_READ_BIT};
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
