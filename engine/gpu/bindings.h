// Vulkan objects for binding buffers: descriptor sets where there are no push descriptors, and texel views.
#pragma once

#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "engine/gpu/buffer.h"
#include "engine/gpu/owned.h"
#include "engine/gpu/reflection.h"

namespace lockstep::gpu {

/// As many descriptor sets as a submission's dispatches need, recycled together.
class DescriptorSets {
  public:
    explicit DescriptorSets(Device& device) : device_(device) {}

    /// Returns a set of this layout, valid until reset(). Throws GpuError.
    VkDescriptorSet allocate(VkDescriptorSetLayout layout);
    /// Recycles all sets; the device must have finished with them.
    void reset();

  private:
    static constexpr std::uint32_t setsPerPool = 256;
    void addPool();

    Device& device_;
    std::vector<Owned<VkDescriptorPool>> pools_;
    std::uint32_t used_ = 0; // sets in all pools together
};

/// Views of buffer ranges as texels, created on first use and kept. Usable from any thread.
class TexelViews {
  public:
    explicit TexelViews(Device& device) : device_(device) {}

    /// Returns the range as vec4s of this format; valid as long as the buffer. Throws GpuError.
    VkBufferView of(const BufferView& view, TexelFormat format);
    /// Destroys the views of a buffer that is about to be destroyed.
    void forget(VkBuffer buffer) noexcept;

  private:
    using Range = std::tuple<VkBuffer, std::uint64_t, std::uint64_t, TexelFormat>; // buffer, offset, size

    Device& device_;
    std::mutex mutex_;
    std::map<Range, Owned<VkBufferView>> views_;
};

} // namespace lockstep::gpu
