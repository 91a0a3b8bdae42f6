// What the driver has made of a device's shaders, kept for the next kernel that asks for the same: training a
// second network need not wait for it again. Software Vulkan spends most of a short run there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/gpu/owned.h"

namespace lockstep::gpu {

/// A compiled shader, and how its buffers are bound.
struct Pipeline {
    Owned<VkDescriptorSetLayout> setLayout;
    Owned<VkPipelineLayout> layout;
    Owned<VkPipeline> pipeline;
};

/// Any thread. A kernel holds its pipeline; one that no kernel holds stays until there are too many.
class Pipelines {
  public:
    /// All that a pipeline is made of: SPIR-V, constants and bindings, as 32-bit words.
    using Key = std::vector<std::uint32_t>;

    /// Null: none has been kept.
    std::shared_ptr<const Pipeline> find(const Key& key) {
        const std::lock_guard lock(mutex_);
        const auto found = kept_.find(key);
        return found == kept_.end() ? nullptr : found->second;
    }
    /// The one that was there first, if another thread was faster.
    std::shared_ptr<const Pipeline> keep(Key key, std::shared_ptr<const Pipeline> made) {
        constexpr std::size_t many = 512;
        const std::lock_guard lock(mutex_);
        if (kept_.size() >= many)
            std::erase_if(kept_, [](const auto& entry) { return entry.second.use_count() == 1; });
        return kept_.try_emplace(std::move(key), std::move(made)).first->second;
    }

  private:
    std::mutex mutex_; ///< guards kept_
    std::map<Key, std::shared_ptr<const Pipeline>> kept_;
};

} // namespace lockstep::gpu
