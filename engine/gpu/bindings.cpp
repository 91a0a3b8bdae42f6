#include "engine/gpu/bindings.h"

#include <iterator>
#include <utility>

#include "engine/gpu/kernel.h"

namespace lockstep::gpu {

void DescriptorSets::addPool() {
    const VkDescriptorPoolSize sizes[] = {
        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, setsPerPool * mostBindings},
        {VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, setsPerPool * mostBindings},
    };
    const VkDescriptorPoolCreateInfo info{
        VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, nullptr, 0, setsPerPool,
        static_cast<std::uint32_t>(std::size(sizes)),  sizes};
    const DeviceApi& vk = device_.vk();
    pools_.push_back(
        create(device_, vk.CreateDescriptorPool, vk.DestroyDescriptorPool, info, "vkCreateDescriptorPool"));
}

VkDescriptorSet DescriptorSets::allocate(VkDescriptorSetLayout layout) {
    const std::uint32_t pool = used_ / setsPerPool;
    if (pool == pools_.size()) addPool();
    const VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr,
                                           pools_[pool].get(), 1, &layout};
    VkDescriptorSet set = VK_NULL_HANDLE;
    check(device_.vk().AllocateDescriptorSets(device_.handle(), &info, &set), "vkAllocateDescriptorSets");
    ++used_;
    return set;
}

void DescriptorSets::reset() {
    if (used_ == 0) return;
    for (const auto& pool : pools_) device_.vk().ResetDescriptorPool(device_.handle(), pool.get(), 0);
    used_ = 0;
}

VkBufferView TexelViews::of(const BufferView& view, TexelFormat format) {
    const std::lock_guard lock(mutex_);
    const Range range{view.buffer, view.offset, view.size, format};
    if (const auto found = views_.find(range); found != views_.end()) return found->second.get();
    auto info = structure<VkBufferViewCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO);
    info.buffer = view.buffer;
    const bool halves = format == TexelFormat::halves; // every device supports these two
    info.format = halves ? VK_FORMAT_R16G16B16A16_SFLOAT : VK_FORMAT_R32G32B32A32_SFLOAT;
    info.offset = view.offset;
    const std::uint64_t texel = halves ? 8 : 16;
    info.range = view.size / texel * texel;
    const DeviceApi& vk = device_.vk();
    auto created = create(device_, vk.CreateBufferView, vk.DestroyBufferView, info, "vkCreateBufferView");
    return views_.emplace(range, std::move(created)).first->second.get();
}

void TexelViews::forget(VkBuffer buffer) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase_if(views_, [buffer](const auto& view) { return std::get<0>(view.first) == buffer; });
}

} // namespace lockstep::gpu
