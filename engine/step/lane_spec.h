// Which machine and which rung a lane uses, as the command line writes it: "cpu:best", "gpu:blocked",
// "gpu:best@1".
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/net/settings.h"
#include "engine/step/rungs.h"

namespace lockstep {

/// A lane's machine and rung (rungs.h).
struct LaneSpec {
    bool gpu = false;
    Rung rung = Rung::best;
    std::string device; ///< number, part of a name or UUID of a Vulkan device; empty: the best one

    /// As it is written: "cpu:best", "gpu:tiled@1".
    std::string text() const;
    const RungRow& row() const { return rowOf(rung, gpu); }

    bool operator==(const LaneSpec&) const = default;
};

/// All lanes that train a network, in the order of the table: "cpu:scalar", ..., "gpu:best".
std::span<const std::string_view> knownLanes();
/// All that train a population (engine/grid): "cpu:scalar" (plain loops), "cpu:simd" (one thread),
/// "cpu:best", "gpu:invocation", "gpu:subgroup", "gpu:workgroup", "gpu:best".
std::span<const std::string_view> knownPopulationLanes();

/// MACHINE:RUNG[@DEVICE]; "cpu" and "gpu" alone mean their best rung. Throws std::invalid_argument, naming
/// the nearest right lane, for an unknown machine or rung, an empty device, and a device after a CPU lane.
/// known   the lanes that are right, such as knownPopulationLanes()
LaneSpec laneSpecFromText(std::string_view text, std::span<const std::string_view> known = knownLanes());

/// Throws std::invalid_argument, naming those that can, for a rung that cannot round what its products read:
/// it has a number format of its own, or joins the operations of a step. Likewise for one that cannot compute
/// in fp64.
void requireFormat(const PrecisionSettings& precision, const LaneSpec& spec);

/// What a comparison must say about a lane: "one thread, no SIMD", "one thread", "no SIMD", "half precision";
/// empty where nothing holds it back.
std::string_view handicap(const LaneSpec& spec);

} // namespace lockstep
