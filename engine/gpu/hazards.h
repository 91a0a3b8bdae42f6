// When does a dispatch have to wait for the ones before it? The one rule of the project, apart from Vulkan so
// that its truth table can be tested.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lockstep::gpu {

/// Bytes [offset, offset + size) of a buffer, read or written (or both) by one dispatch or copy.
struct Access {
    std::uint64_t buffer = 0; ///< identity of the buffer
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    bool reads = false;
    bool writes = false;
};

/// Remembers what has been touched since the last barrier.
class HazardTracker {
  public:
    /// True when `accesses` have to be ordered after something since the last barrier; the caller then emits
    /// a full memory barrier. In either case the accesses are remembered (after a barrier: alone).
    ///   earlier \ now   read    write
    ///   read            no      yes   (write after read: the old value must have been read)
    ///   write           yes     yes   (read after write, write after write)
    /// on overlapping bytes of the same buffer. The accesses of one call never conflict with each other.
    bool add(std::span<const Access> accesses);

    /// Forgets everything: a barrier was emitted.
    void clear() { pending_.clear(); }

  private:
    std::vector<Access> pending_;
};

} // namespace lockstep::gpu
