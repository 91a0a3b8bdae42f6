#include "demos/draw/offscreen.h"

#include <cstring>

#include "engine/gpu/error.h"

namespace lockstep::demos {

using gpu::check;
using gpu::structure;

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
