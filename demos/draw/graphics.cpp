#include "demos/draw/graphics.h"

#include "engine/gpu/error.h"

namespace lockstep::demos {

using gpu::check;
using gpu::structure;

namespace {

constexpr std::uint32_t mostPictures = 1024;

DrawApi loadDrawApi(const gpu::Device& device) {
    DrawApi api;
    const gpu::GlobalApi& global = gpu::loadVulkan();
#define LOCKSTEP_LOAD(call) api.call = reinterpret_cast<PFN_vk##call>(device.function("vk" #call));
    LOCKSTEP_VULKAN_DRAW(LOCKSTEP_LOAD)
    LOCKSTEP_VULKAN_PRESENT(LOCKSTEP_LOAD)
#undef LOCKSTEP_LOAD
#define LOCKSTEP_LOAD(call)                                                                                  \
    api.call = reinterpret_cast<PFN_vk##call>(global.GetInstanceProcAddr(device.instance(), "vk" #call));
    LOCKSTEP_VULKAN_SURFACE(LOCKSTEP_LOAD)
#undef LOCKSTEP_LOAD
    return api;
}

VkSampler createSampler(const gpu::Device& device, const DrawApi& draw, VkFilter filter) {
    auto info = structure<VkSamplerCreateInfo>(VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO);
    info.magFilter = filter;
    info.minFilter = VK_FILTER_LINEAR;
    info.addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    info.addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    info.addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    VkSampler sampler = VK_NULL_HANDLE;
    check(draw.CreateSampler(device.handle(), &info, nullptr, &sampler), "vkCreateSampler");
    return sampler;
}

} // namespace

void Graphics::attach(gpu::Device& device) {
    device_ = &device;
    draw_ = loadDrawApi(device);
    VkQueue training = VK_NULL_HANDLE;
    vk().GetDeviceQueue(device.handle(), device.queueFamily(), 0, &training);
    const bool shared = training == device.drawing().queue;
    drawnSeconds_.reset();
    if (shared && device.limits().timestampNanoseconds > 0) drawnSeconds_ = 0;
    try {
        createLayouts();
    } catch (...) {
        detach();
        throw;
    }
}

void Graphics::createLayouts() {
    samplers_[0] = createSampler(*device_, draw_, VK_FILTER_NEAREST);
    samplers_[1] = createSampler(*device_, draw_, VK_FILTER_LINEAR);
    VkDescriptorSetLayoutBinding binding{};
    binding.descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    binding.descriptorCount = 1;
    binding.stageFlags = VK_SHADER_STAGE_FRAGMENT_BIT;
    auto layout =
        structure<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
    layout.bindingCount = 1;
    layout.pBindings = &binding;
    check(vk().CreateDescriptorSetLayout(device_->handle(), &layout, nullptr, &pictureLayout_),
          "vkCreateDescriptorSetLayout");
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, mostPictures};
    auto pool = structure<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
    pool.flags = VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT;
    pool.maxSets = mostPictures;
    pool.poolSizeCount = 1;
    pool.pPoolSizes = &size;
    check(vk().CreateDescriptorPool(device_->handle(), &pool, nullptr, &descriptorPool_),
          "vkCreateDescriptorPool");
}

void Graphics::detach() noexcept {
    if (device_ == nullptr) return;
    frameDone();
    pending_.clear();
    if (!device_->abandoned()) {
        if (descriptorPool_ != VK_NULL_HANDLE)
            vk().DestroyDescriptorPool(device_->handle(), descriptorPool_, nullptr);
        if (pictureLayout_ != VK_NULL_HANDLE)
            vk().DestroyDescriptorSetLayout(device_->handle(), pictureLayout_, nullptr);
        for (const VkSampler sampler : samplers_)
            if (sampler != VK_NULL_HANDLE) draw_.DestroySampler(device_->handle(), sampler, nullptr);
    }
    descriptorPool_ = VK_NULL_HANDLE;
    pictureLayout_ = VK_NULL_HANDLE;
    samplers_[0] = samplers_[1] = VK_NULL_HANDLE;
    device_ = nullptr;
}

void Graphics::frameDone() {
    for (const auto& destroy : retired_) destroy();
    retired_.clear();
}

bool Graphics::offers(const VkMemoryRequirements& needs, VkMemoryPropertyFlags wanted) const {
    const VkPhysicalDeviceMemoryProperties& memory = device_->memory();
    for (std::uint32_t index = 0; index < memory.memoryTypeCount; ++index)
        if ((needs.memoryTypeBits & (1u << index)) != 0 &&
            (memory.memoryTypes[index].propertyFlags & wanted) == wanted)
            return true;
    return false;
}

VkDeviceMemory Graphics::allocate(const VkMemoryRequirements& needs, VkMemoryPropertyFlags wanted) {
    const VkPhysicalDeviceMemoryProperties& memory = device_->memory();
    auto info = structure<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
    info.allocationSize = needs.size;
    for (std::uint32_t index = 0; index < memory.memoryTypeCount; ++index) {
        const bool allowed = (needs.memoryTypeBits & (1u << index)) != 0;
        if (!allowed || (memory.memoryTypes[index].propertyFlags & wanted) != wanted) continue;
        info.memoryTypeIndex = index;
        VkDeviceMemory allocated = VK_NULL_HANDLE;
        const VkResult result = vk().AllocateMemory(device_->handle(), &info, nullptr, &allocated);
        if (result == VK_SUCCESS) return allocated;
        if (result != VK_ERROR_OUT_OF_DEVICE_MEMORY) check(result, "vkAllocateMemory");
    }
    throw gpu::OutOfMemoryError("no memory is left for drawing on '" + device_->report().name +
                                    "'; a smaller window or network leaves more",
                                needs.size, device_->memoryLeft());
}

HostBuffer::HostBuffer(Graphics& graphics, std::size_t bytes, VkBufferUsageFlags usage)
    : graphics_(graphics), size_(bytes) {
    const gpu::DeviceApi& vk = graphics.vk();
    const VkDevice device = graphics.device().handle();
    auto info = structure<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    info.size = bytes;
    info.usage = usage;
    check(vk.CreateBuffer(device, &info, nullptr, &buffer_), "vkCreateBuffer");
    try {
        VkMemoryRequirements needs{};
        vk.GetBufferMemoryRequirements(device, buffer_, &needs);
        VkMemoryPropertyFlags wanted =
            VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
        coherent_ = graphics.offers(needs, wanted);
        if (!coherent_) wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
        memory_ = graphics.allocate(needs, wanted);
        check(vk.BindBufferMemory(device, buffer_, memory_, 0), "vkBindBufferMemory");
        void* mapped = nullptr;
        check(vk.MapMemory(device, memory_, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
        host_ = static_cast<std::byte*>(mapped);
    } catch (...) {
        release();
        throw;
    }
}

HostBuffer::~HostBuffer() { release(); }

void HostBuffer::release() noexcept {
    if (graphics_.device().abandoned()) return;
    graphics_.vk().DestroyBuffer(graphics_.device().handle(), buffer_, nullptr);
    graphics_.vk().FreeMemory(graphics_.device().handle(), memory_, nullptr);
}

// All of the memory: no range of it could be misaligned.
VkMappedMemoryRange HostBuffer::all() const {
    auto range = structure<VkMappedMemoryRange>(VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE);
    range.memory = memory_;
    range.size = VK_WHOLE_SIZE;
    return range;
}

void HostBuffer::written() {
    if (coherent_) return;
    const VkMappedMemoryRange range = all();
    check(graphics_.vk().FlushMappedMemoryRanges(graphics_.device().handle(), 1, &range),
          "vkFlushMappedMemoryRanges");
}

void HostBuffer::toBeRead() {
    if (coherent_) return;
    const VkMappedMemoryRange range = all();
    check(graphics_.vk().InvalidateMappedMemoryRanges(graphics_.device().handle(), 1, &range),
          "vkInvalidateMappedMemoryRanges");
}

VkImageView createView(Graphics& graphics, VkImage image, VkFormat format) {
    auto info = structure<VkImageViewCreateInfo>(VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO);
    info.image = image;
    info.viewType = VK_IMAGE_VIEW_TYPE_2D;
    info.format = format;
    info.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    VkImageView view = VK_NULL_HANDLE;
    check(graphics.draw().CreateImageView(graphics.device().handle(), &info, nullptr, &view),
          "vkCreateImageView");
    return view;
}

Image::Image(Graphics& graphics, std::uint32_t width, std::uint32_t height, VkImageUsageFlags usage)
    : graphics_(graphics), extent_{width, height} {
    const DrawApi& draw = graphics.draw();
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
    check(draw.CreateImage(device, &info, nullptr, &image_), "vkCreateImage");
    try {
        VkMemoryRequirements needs{};
        draw.GetImageMemoryRequirements(device, image_, &needs);
        memory_ = graphics.allocate(needs, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
        check(draw.BindImageMemory(device, image_, memory_, 0), "vkBindImageMemory");
        view_ = createView(graphics, image_, format);
    } catch (...) {
        release();
        throw;
    }
}

Image::~Image() { release(); }

void Image::release() noexcept {
    if (graphics_.device().abandoned()) return;
    const VkDevice device = graphics_.device().handle();
    graphics_.draw().DestroyImageView(device, view_, nullptr);
    graphics_.draw().DestroyImage(device, image_, nullptr);
    graphics_.vk().FreeMemory(device, memory_, nullptr);
}

void changeUse(const gpu::DeviceApi& vk, VkCommandBuffer commands, VkImage image, const ImageUse& from,
               const ImageUse& to) {
    auto barrier = structure<VkImageMemoryBarrier>(VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER);
    barrier.srcAccessMask = from.access;
    barrier.dstAccessMask = to.access;
    barrier.oldLayout = from.layout;
    barrier.newLayout = to.layout;
    barrier.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    barrier.image = image;
    barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    vk.CmdPipelineBarrier(commands, from.stage, to.stage, 0, 0, nullptr, 0, nullptr, 1, &barrier);
}

} // namespace lockstep::demos
