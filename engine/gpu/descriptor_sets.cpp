#include "engine/gpu/descriptor_sets.h"

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

} // namespace lockstep::gpu
