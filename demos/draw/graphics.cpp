#include "demos/draw/graphics.h"

namespace lockstep::demos {

using gpu::check;
using gpu::structure;

namespace {

constexpr std::uint32_t mostPictures = 1024;

Owned<VkSampler> createSampler(gpu::Device& device, VkFilter filter) {
    auto info = structure<VkSamplerCreateInfo>(VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO);
    info.magFilter = filter;
    info.minFilter = VK_FILTER_LINEAR;
    info.addressModeU = info.addressModeV = info.addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    return gpu::create(device, device.vk().CreateSampler, device.vk().DestroySampler, info,
                       "vkCreateSampler");
}

// The types that are allowed and have `wanted`.
std::vector<std::uint32_t> memoryTypes(const VkPhysicalDeviceMemoryProperties& memory,
                                       const VkMemoryRequirements& needs, VkMemoryPropertyFlags wanted) {
    std::vector<std::uint32_t> types;
    for (std::uint32_t index = 0; index < memory.memoryTypeCount; ++index)
        if ((needs.memoryTypeBits & (1u << index)) != 0 &&
            (memory.memoryTypes[index].propertyFlags & wanted) == wanted)
            types.push_back(index);
    return types;
}

// The best properties that a type of memory offers for the host. It reads memory that is not cached slowly,
// and the device writes to it only where it is the target of a copy.
VkMemoryPropertyFlags hostMemory(const VkPhysicalDeviceMemoryProperties& memory,
                                 const VkMemoryRequirements& needs, VkBufferUsageFlags usage) {
    constexpr VkMemoryPropertyFlags visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
    constexpr VkMemoryPropertyFlags coherent = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    constexpr VkMemoryPropertyFlags cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    const bool read = (usage & VK_BUFFER_USAGE_TRANSFER_DST_BIT) != 0;
    for (const VkMemoryPropertyFlags wanted : {visible | coherent | cached, visible | cached})
        if (read && !memoryTypes(memory, needs, wanted).empty()) return wanted;
    return memoryTypes(memory, needs, visible | coherent).empty() ? visible : visible | coherent;
}

} // namespace

void Graphics::attach(gpu::Device& device) {
    device_ = &device;
    drawnSeconds_.reset();
    if (device.drawing().shared && device.limits().timestampNanoseconds > 0) drawnSeconds_ = 0;
    try {
        createLayouts();
    } catch (...) {
        detach();
        throw;
    }
}

void Graphics::createLayouts() {
    sharp_ = createSampler(*device_, VK_FILTER_NEAREST);
    smooth_ = createSampler(*device_, VK_FILTER_LINEAR);
    const VkDescriptorSetLayoutBinding binding{0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1,
                                               VK_SHADER_STAGE_FRAGMENT_BIT, nullptr};
    const VkDescriptorSetLayoutCreateInfo layout{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, nullptr,
                                                 0, 1, &binding};
    pictureLayout_ = gpu::create(*device_, vk().CreateDescriptorSetLayout, vk().DestroyDescriptorSetLayout,
                                 layout, "vkCreateDescriptorSetLayout");
    const VkDescriptorPoolSize size{binding.descriptorType, mostPictures};
    auto pool = structure<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
    pool.flags = VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT;
    pool.maxSets = mostPictures;
    pool.poolSizeCount = 1;
    pool.pPoolSizes = &size;
    descriptorPool_ = gpu::create(*device_, vk().CreateDescriptorPool, vk().DestroyDescriptorPool, pool,
                                  "vkCreateDescriptorPool");
}

void Graphics::detach() noexcept {
    if (device_ == nullptr) return;
    frameDone();
    pending_.clear();
    descriptorPool_.reset();
    pictureLayout_.reset();
    smooth_.reset();
    sharp_.reset();
    device_ = nullptr;
}

void Graphics::frameDone() {
    for (const auto& destroy : retired_) destroy();
    retired_.clear();
}

Owned<VkDeviceMemory> Graphics::allocate(const VkMemoryRequirements& needs, VkMemoryPropertyFlags wanted) {
    VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, needs.size, 0};
    for (const std::uint32_t type : memoryTypes(device_->memory(), needs, wanted)) {
        info.memoryTypeIndex = type;
        VkDeviceMemory allocated = VK_NULL_HANDLE;
        const VkResult result = vk().AllocateMemory(device_->handle(), &info, nullptr, &allocated);
        if (result == VK_SUCCESS) return {allocated, {device_, vk().FreeMemory}};
        if (result != VK_ERROR_OUT_OF_DEVICE_MEMORY) check(result, "vkAllocateMemory");
    }
    throw gpu::OutOfMemoryError("out of memory for drawing on '" + device_->report().name +
                                    "'; try a smaller window or network",
                                needs.size, device_->memoryLeft());
}

HostBuffer::HostBuffer(Graphics& graphics, std::size_t bytes, VkBufferUsageFlags usage)
    : graphics_(graphics), size_(bytes),
      all_(structure<VkMappedMemoryRange>(VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE)) {
    const gpu::DeviceApi& vk = graphics.vk();
    const VkDevice device = graphics.device().handle();
    auto info = structure<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    info.size = bytes;
    info.usage = usage;
    buffer_ = gpu::create(graphics.device(), vk.CreateBuffer, vk.DestroyBuffer, info, "vkCreateBuffer");
    VkMemoryRequirements needs{};
    vk.GetBufferMemoryRequirements(device, handle(), &needs);
    const VkMemoryPropertyFlags wanted = hostMemory(graphics.device().memory(), needs, usage);
    coherent_ = (wanted & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0;
    memory_ = graphics.allocate(needs, wanted);
    check(vk.BindBufferMemory(device, handle(), memory_.get(), 0), "vkBindBufferMemory");
    void* mapped = nullptr;
    check(vk.MapMemory(device, memory_.get(), 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    host_ = static_cast<std::byte*>(mapped);
    all_.memory = memory_.get();
    all_.size = VK_WHOLE_SIZE;
}

void HostBuffer::written() {
    if (coherent_) return;
    check(graphics_.vk().FlushMappedMemoryRanges(graphics_.device().handle(), 1, &all_),
          "vkFlushMappedMemoryRanges");
}

void HostBuffer::toBeRead() {
    if (coherent_) return;
    check(graphics_.vk().InvalidateMappedMemoryRanges(graphics_.device().handle(), 1, &all_),
          "vkInvalidateMappedMemoryRanges");
}

Owned<VkImageView> createView(Graphics& graphics, VkImage image, VkFormat format) {
    const VkImageViewCreateInfo info{
        VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO, nullptr, 0, image, VK_IMAGE_VIEW_TYPE_2D, format, {},
        {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    return gpu::create(graphics.device(), graphics.vk().CreateImageView, graphics.vk().DestroyImageView, info,
                       "vkCreateImageView");
}

Image::Image(Graphics& graphics, std::uint32_t width, std::uint32_t height, VkImageUsageFlags usage)
    : extent_{width, height} {
    const gpu::DeviceApi& vk = graphics.vk();
    const VkDevice device = graphics.device().handle();
    auto info = structure<VkImageCreateInfo>(VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO);
    info.imageType = VK_IMAGE_TYPE_2D;
    info.format = format;
    info.extent = {width, height, 1};
    info.mipLevels = 1;
    info.arrayLayers = 1;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.tiling = VK_IMAGE_TILING_OPTIMAL;
    info.usage = usage;
    image_ = gpu::create(graphics.device(), vk.CreateImage, vk.DestroyImage, info, "vkCreateImage");
    VkMemoryRequirements needs{};
    vk.GetImageMemoryRequirements(device, handle(), &needs);
    memory_ = graphics.allocate(needs, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    check(vk.BindImageMemory(device, handle(), memory_.get(), 0), "vkBindImageMemory");
    view_ = createView(graphics, handle(), format);
}

} // namespace lockstep::demos
