#include "demos/report/contenders.h"

namespace lockstep::demos {

namespace {

/// The fastest lane that counts and for which `wanted` holds.
std::optional<std::size_t> fastest(const std::vector<Contender>& lanes, auto wanted) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        if (lanes[i].speed <= 0 || !wanted(lanes[i])) continue;
        if (!best || lanes[i].speed > lanes[*best].speed) best = i;
    }
    return best;
}

/// The lane to compare with the fastest.
std::optional<std::size_t> opponent(const std::vector<Contender>& lanes, std::size_t best) {
    const bool gpu = lanes[best].gpu;
    if (const auto other = fastest(lanes, [gpu](const Contender& lane) { return lane.gpu != gpu; }))
        return other;
    std::optional<std::size_t> slowest;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        if (i == best || lanes[i].speed <= 0) continue;
        if (!slowest || lanes[i].speed < lanes[*slowest].speed) slowest = i;
    }
    return slowest;
}

} // namespace

std::optional<Pairing> pairUp(const std::vector<Contender>& lanes) {
    const auto best = fastest(lanes, [](const Contender&) { return true; });
    const auto other = best ? opponent(lanes, *best) : std::nullopt;
    if (!other) return std::nullopt;
    return Pairing{*best, *other, lanes[*best].speed / lanes[*other].speed};
}

} // namespace lockstep::demos
