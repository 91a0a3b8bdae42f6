// Decides when a dispatch must wait for earlier ones. This is the project's only rule for barriers, kept
// apart from Vulkan so that its truth table can be tested.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep::gpu {

/// An access by one dispatch or copy: bytes [offset, offset + size) of a buffer, read or written or both.
struct Access {
    std::uint64_t buffer = 0; ///< identity of the buffer
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    bool reads = false;
    bool writes = false;
};

/// Tracks all accesses since the last barrier.
class HazardTracker {
  public:
    /// Returns true if `accesses` conflict with any since the last barrier; the caller then emits a full
    /// memory barrier. Either way the accesses are recorded (after a barrier, only these).
    ///   earlier \ now   read    write
    ///   read            no      yes   (write after read: the old value must be read first)
    ///   write           yes     yes   (read after write, write after write)
    /// for overlapping bytes of the same buffer. Accesses within one call never conflict.
    bool add(std::span<const Access> accesses) {
        const bool hazard = std::ranges::any_of(accesses, [this](const Access& now) {
            return std::ranges::any_of(pending_,
                                       [&now](const Access& earlier) { return conflict(earlier, now); });
        });
        if (hazard) pending_.clear();
        pending_.insert(pending_.end(), accesses.begin(), accesses.end());
        return hazard;
    }

    /// Forgets all accesses, after a barrier.
    void clear() { pending_.clear(); }

  private:
    static bool conflict(const Access& a, const Access& b) {
        const bool overlap =
            a.buffer == b.buffer && a.offset < b.offset + b.size && b.offset < a.offset + a.size;
        return (a.writes || b.writes) && overlap;
    }

    std::vector<Access> pending_;
};

} // namespace lockstep::gpu
