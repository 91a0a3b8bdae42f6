// Descriptor sets for devices without push descriptors: as many as a submission's dispatches need, all
// recycled at once.
#pragma once

#include <vector>

#include "engine/gpu/device.h"

namespace lockstep::gpu {

class DescriptorSets {
  public:
    explicit DescriptorSets(Device& device) : device_(device) {}
    ~DescriptorSets();
    DescriptorSets(const DescriptorSets&) = delete;
    DescriptorSets& operator=(const DescriptorSets&) = delete;

    /// A set of the layout, valid until reset(). Throws GpuError.
    VkDescriptorSet allocate(VkDescriptorSetLayout layout);
    /// Takes all sets back; the device must be done with them.
    void reset();

  private:
    static constexpr std::uint32_t setsPerPool = 256;
    void addPool();

    Device& device_;
    std::vector<VkDescriptorPool> pools_;
    std::uint32_t used_ = 0; // sets, over all pools
};

} // namespace lockstep::gpu
