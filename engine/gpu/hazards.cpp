#include "engine/gpu/hazards.h"

#include <algorithm>

namespace lockstep::gpu {

namespace {

bool overlap(const Access& a, const Access& b) {
    return a.buffer == b.buffer && a.offset < b.offset + b.size && b.offset < a.offset + a.size;
}

bool conflict(const Access& earlier, const Access& now) {
    return (earlier.writes || now.writes) && overlap(earlier, now);
}

} // namespace

bool HazardTracker::add(std::span<const Access> accesses) {
    const bool hazard = std::any_of(accesses.begin(), accesses.end(), [&](const Access& now) {
        return std::any_of(pending_.begin(), pending_.end(),
                           [&](const Access& earlier) { return conflict(earlier, now); });
    });
    if (hazard) pending_.clear();
    pending_.insert(pending_.end(), accesses.begin(), accesses.end());
    return hazard;
}

} // namespace lockstep::gpu
