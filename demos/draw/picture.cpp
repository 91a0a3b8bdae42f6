#include "demos/draw/picture.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace lockstep::demos {

using gpu::check;
using gpu::structure;

namespace {

struct ImageUse {
    VkImageLayout layout;
    VkPipelineStageFlags stage;
    VkAccessFlags access;
};

constexpr ImageUse copyTarget{VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_PIPELINE_STAGE_TRANSFER_BIT,
                              VK_ACCESS_TRANSFER_WRITE_BIT};
constexpr ImageUse shaderInput{VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                               VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT};

void changeUse(const gpu::DeviceApi& vk, VkCommandBuffer commands, VkImage image, const ImageUse& from,
               const ImageUse& to) {
    auto barrier = structure<VkImageMemoryBarrier>(VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER);
    barrier.srcAccessMask = from.access;
    barrier.dstAccessMask = to.access;
    barrier.oldLayout = from.layout;
    barrier.newLayout = to.layout;
    barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    barrier.image = image;
    barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    vk.CmdPipelineBarrier(commands, from.stage, to.stage, 0, 0, nullptr, 0, nullptr, 1, &barrier);
}

} // namespace

Picture::Picture(Graphics& graphics, std::uint32_t width, std::uint32_t height, bool smooth)
    : graphics_(graphics),
      image_(std::make_shared<Image>(graphics, width, height,
                                     VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT)) {
    // Nothing is shown before it was brought: black and transparent.
    stage(std::vector<std::uint32_t>(static_cast<std::size_t>(width) * height, 0u));
    const VkDescriptorSetLayout layout = graphics.pictureLayout();
    const VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr,
                                           graphics.descriptorPool(), 1, &layout};
    check(graphics.vk().AllocateDescriptorSets(graphics.device().handle(), &info, &descriptor_),
          "vkAllocateDescriptorSets");
    const VkDescriptorImageInfo input{graphics.sampler(smooth), image_->view(), shaderInput.layout};
    auto write = structure<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
    write.dstSet = descriptor_;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    write.pImageInfo = &input;
    graphics.vk().UpdateDescriptorSets(graphics.device().handle(), 1, &write, 0, nullptr);
    want();
}

Picture::~Picture() {
    std::erase(graphics_.pending(), this);
    graphics_.afterFrame([&graphics = graphics_, image = image_, staging = staging_, set = descriptor_] {
        if (graphics.device().abandoned()) return;
        graphics.vk().FreeDescriptorSets(graphics.device().handle(), graphics.descriptorPool(), 1, &set);
    });
}

ImTextureID Picture::id() const {
    // A pointer before ImGui 1.91.4, an integer since; no C++ cast does both.
    return (ImTextureID)(std::intptr_t)this; // NOLINT
}

void Picture::stage(std::span<const std::uint32_t> pixels) {
    const std::size_t count = static_cast<std::size_t>(width()) * height();
    if (pixels.size() != count)
        throw std::invalid_argument("a picture of " + std::to_string(count) + " pixels was given " +
                                    std::to_string(pixels.size()));
    auto next =
        std::make_shared<HostBuffer>(graphics_, pixels.size_bytes(), VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
    std::memcpy(next->data(), pixels.data(), pixels.size_bytes());
    next->written();
    // The frame under way may still read the last contents.
    if (staging_) graphics_.afterFrame([old = staging_] {});
    staging_ = std::move(next);
    source_ = staging_->handle();
    sourceOffset_ = 0;
    ready_ = 0;
}

void Picture::show(const gpu::BufferView& view, gpu::Ticket ready) {
    if (view.size < static_cast<std::uint64_t>(width()) * height() * 4)
        throw std::invalid_argument("a picture was given a buffer that is too small");
    source_ = view.buffer;
    sourceOffset_ = view.offset;
    ready_ = ready;
    want();
}

void Picture::want() {
    std::vector<Picture*>& pending = graphics_.pending();
    if (std::find(pending.begin(), pending.end(), this) == pending.end()) pending.push_back(this);
}

void Picture::recordCopy(VkCommandBuffer commands) {
    const gpu::DeviceApi& vk = graphics_.vk();
    // From FRAGMENT_SHADER: the last frame must have read the old contents.
    changeUse(vk, commands, image_->handle(), {layout_, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT, 0},
              copyTarget);
    const VkBufferImageCopy region = image_->copyRegion(sourceOffset_);
    vk.CmdCopyBufferToImage(commands, source_, image_->handle(), copyTarget.layout, 1, &region);
    changeUse(vk, commands, image_->handle(), copyTarget, shaderInput);
    layout_ = shaderInput.layout;
    ready_ = 0;
}

} // namespace lockstep::demos
