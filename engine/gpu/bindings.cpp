#include "engine/gpu/bindings.h"

#include <iterator>

#include "engine/gpu/error.h"
#include "engine/gpu/kernel.h"

namespace lockstep::gpu {

DescriptorSets::~DescriptorSets() {
    if (device_.abandoned()) return;
    for (VkDescriptorPool pool : pools_) device_.vk().DestroyDescriptorPool(device_.handle(), pool, nullptr);
}

void DescriptorSets::addPool() {
    const VkDescriptorPoolSize sizes[] = {
        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, setsPerPool * mostBindings},
        {VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, setsPerPool * mostBindings},
    };
    auto info = structure<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
    info.maxSets = setsPerPool;
    info.poolSizeCount = static_cast<std::uint32_t>(std::size(sizes));
    info.pPoolSizes = sizes;
    VkDescriptorPool pool = VK_NULL_HANDLE;
    check(device_.vk().CreateDescriptorPool(device_.handle(), &info, nullptr, &pool),
          "vkCreateDescriptorPool");
    pools_.push_back(pool);
}

VkDescriptorSet DescriptorSets::allocate(VkDescriptorSetLayout layout) {
    const std::uint32_t pool = used_ / setsPerPool;
    if (pool == pools_.size()) addPool();
    auto info = structure<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
    info.descriptorPool = pools_[pool];
    info.descriptorSetCount = 1;
    info.pSetLayouts = &layout;
    VkDescriptorSet set = VK_NULL_HANDLE;
    check(device_.vk().AllocateDescriptorSets(device_.handle(), &info, &set), "vkAllocateDescriptorSets");
    ++used_;
    return set;
}

void DescriptorSets::reset() {
    if (used_ == 0) return;
    for (VkDescriptorPool pool : pools_) device_.vk().ResetDescriptorPool(device_.handle(), pool, 0);
    used_ = 0;
}

TexelViews::~TexelViews() {
    if (device_.abandoned()) return;
    for (const auto& [range, view] : views_) device_.vk().DestroyBufferView(device_.handle(), view, nullptr);
}

VkBufferView TexelViews::of(const BufferView& view, TexelFormat format) {
    const std::lock_guard lock(mutex_);
    const auto [found, isNew] =
        views_.try_emplace({view.buffer, view.offset, view.size, format}, VK_NULL_HANDLE);
    if (!isNew) return found->second;
    auto info = structure<VkBufferViewCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO);
    info.buffer = view.buffer;
    const bool halves = format == TexelFormat::halves; // every device supports these two
    info.format = halves ? VK_FORMAT_R16G16B16A16_SFLOAT : VK_FORMAT_R32G32B32A32_SFLOAT;
    info.offset = view.offset;
    const std::uint64_t texel = halves ? 8 : 16;
    info.range = view.size / texel * texel;
    const VkResult result = device_.vk().CreateBufferView(device_.handle(), &info, nullptr, &found->second);
    if (result != VK_SUCCESS) views_.erase(found);
    check(result, "vkCreateBufferView");
    return found->second;
}

void TexelViews::forget(VkBuffer buffer) noexcept {
    const std::lock_guard lock(mutex_);
    const auto begin = views_.lower_bound({buffer, 0, 0, TexelFormat::floats});
    auto end = begin;
    for (; end != views_.end() && std::get<0>(end->first) == buffer; ++end)
        device_.vk().DestroyBufferView(device_.handle(), end->second, nullptr);
    views_.erase(begin, end);
}

} // namespace lockstep::gpu
