// How much of a dispatch may be submitted at a time, so that nothing holds the device for long: what else
// uses it, such as a window, would stutter, and some systems reset a GPU that does not answer for two
// seconds.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/gpu/kernel.h"

namespace lockstep::gpu {

/// What one kernel has shown of its speed. Work is counted in floating-point operations.
class DispatchPace {
  public:
    bool known() const { return seen_ > 1; }
    /// The work that may be submitted next, where no submission may take longer than so many milliseconds.
    /// Until a speed is known, little enough for the slowest device.
    double most(double longest) const {
        constexpr double cautious = 4e6;
        constexpr double margin = 0.4; // a device may slow down, and pieces differ
        return known() ? margin * longest / millisecondsPerFlop_ : cautious;
    }
    double milliseconds(double flops) const { return known() ? flops * millisecondsPerFlop_ : 0; }
    /// So much work, submitted by itself, took so long. The first time is not believed: drivers compile then.
    void learn(double flops, double milliseconds) {
        if (seen_++ > 0) millisecondsPerFlop_ = std::max(milliseconds, 1e-4) / flops;
    }

  private:
    std::uint64_t seen_ = 0;
    double millisecondsPerFlop_ = 0;
};

/// The workgroups [first, first + count) of a dispatch, along each axis.
struct GroupRange {
    WorkItems first{0, 0, 0};
    WorkItems count;
};

/// Cuts a dispatch into blocks of at most `most` workgroups (at least one): whole layers, whole rows of one
/// layer, or parts of one row. Returns what follows after `done` workgroups.
inline GroupRange nextGroups(const WorkItems& groups, std::uint64_t done, double most) {
    const auto limit = static_cast<std::uint64_t>(std::clamp(most, 1.0, 1e18));
    const std::uint64_t perLayer = std::uint64_t{groups.x} * groups.y;
    const auto z = asUint(done / perLayer);
    const auto y = asUint(done % perLayer / groups.x);
    const auto x = asUint(done % groups.x);
    const auto atMost = [](std::uint64_t fitting, std::uint32_t left) {
        return asUint(std::min<std::uint64_t>(fitting, left));
    };
    if (x == 0 && y == 0 && limit >= perLayer)
        return {{0, 0, z}, {groups.x, groups.y, atMost(limit / perLayer, groups.z - z)}};
    if (x == 0 && limit >= groups.x)
        return {{0, y, z}, {groups.x, atMost(limit / groups.x, groups.y - y), 1}};
    return {{x, y, z}, {atMost(limit, groups.x - x), 1, 1}};
}

inline std::uint64_t total(const WorkItems& groups) { return std::uint64_t{groups.x} * groups.y * groups.z; }

} // namespace lockstep::gpu
