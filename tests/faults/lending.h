// Buffers that are lent to a frame: the bytes that it copies to pictures, and who else writes to them.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include <vulkan/vulkan.h>

namespace lockstep::faults {

/// [begin, end) of a buffer. Buffers that share memory count as different ones.
struct ByteRange {
    VkBuffer buffer = VK_NULL_HANDLE;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    auto operator<=>(const ByteRange&) const = default;
};
using ByteRanges = std::set<ByteRange>;

using Bindings = std::map<std::uint32_t, ByteRange>; ///< of storage buffers

void bindStorage(Bindings& bound, std::span<const VkWriteDescriptorSet> writes);
ByteRange byteRange(VkBuffer buffer, std::uint64_t offset, std::uint64_t size);

/// What a command buffer holds since it was begun.
struct Recorded {
    VkPipeline pipeline = VK_NULL_HANDLE;
    Bindings bound;
    ByteRanges written; ///< by dispatches, copies and fills
    ByteRanges shown;   ///< copied to pictures
};

/// All calls may come from any thread.
class Lending {
  public:
    void addShader(VkShaderModule shader, std::span<const std::uint32_t> words);
    void addPipeline(VkPipeline pipeline, VkShaderModule shader);
    /// Descriptors of sets that are bound later.
    void update(std::span<const VkWriteDescriptorSet> writes);
    /// A buffer is destroyed: another one may get its handle.
    void forget(VkBuffer buffer);

    /// What a command buffer does; one thread records it at a time.
    Recorded& recorded(VkCommandBuffer commands);
    void bind(VkCommandBuffer commands, VkDescriptorSet set);
    void dispatch(VkCommandBuffer commands);

    /// Reports work that does not wait for earlier work on another queue, where one of the two writes to what
    /// the other shows. Work is over when the program has seen it, however fast the driver is.
    void submit(VkQueue queue, std::span<const VkSubmitInfo> submits, VkFence fence);
    void seen(VkFence fence);
    void seen(VkSemaphore timeline, std::uint64_t value);
    void seenIdle(VkQueue queue); ///< null: all of them

  private:
    struct Point { ///< of a timeline; a binary semaphore has one, 0
        VkSemaphore semaphore = VK_NULL_HANDLE;
        std::uint64_t value = 0;
    };
    struct Work { ///< submitted, and not seen to be done
        VkQueue queue = VK_NULL_HANDLE;
        VkFence fence = VK_NULL_HANDLE;
        std::vector<Point> waits;
        std::vector<Point> signals;
        std::set<VkQueue> awaitedBy;
        ByteRanges written;
        ByteRanges shown;
    };

    Work workOf(const VkSubmitInfo& submit) const;
    static bool waitsFor(const Work& later, const Work& earlier);

    std::mutex mutex_;                                // guards all below
    std::map<VkShaderModule, std::uint64_t> shaders_; // a bit for each binding that may be written
    std::map<VkPipeline, std::uint64_t> pipelines_;   // likewise
    std::map<VkDescriptorSet, Bindings> sets_;
    std::map<VkCommandBuffer, Recorded> recorded_;
    std::vector<Work> underWay_;
};

} // namespace lockstep::faults
