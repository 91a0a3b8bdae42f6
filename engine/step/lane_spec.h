// Which machine and which kernels a lane uses, as the command line writes it: "cpu:best", "gpu:blocked",
// "gpu:best@1".
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lockstep {

/// A lane's machine and rung. A rung is a choice of kernels; the training recipe is the same on all.
struct LaneSpec {
    bool gpu = false;
    std::string rung = "best";
    std::string device; ///< number, part of a name or UUID of a Vulkan device; empty: the best one

    /// As it is written: "cpu:best", "gpu:tiled@1".
    std::string text() const;

    bool operator==(const LaneSpec&) const = default;
};

/// MACHINE:RUNG[@DEVICE]; "cpu" and "gpu" alone mean their best rung. Throws std::invalid_argument, naming
/// the nearest right lane, for an unknown machine or rung, an empty device, and a device after a CPU lane.
LaneSpec laneSpecFromText(std::string_view text);

/// All machines and rungs: "cpu:scalar", "cpu:simd", "cpu:threads", "cpu:best", "gpu:naive", ...
std::span<const std::string_view> knownLanes();

/// The same where other lanes are `known`.
LaneSpec laneSpecFromText(std::string_view text, std::span<const std::string_view> known);

/// Whether a rung computes with operands of 16 bits: close to what the others compute, not the same.
bool halfPrecision(const LaneSpec& spec);

/// What a rung is, in a few words that a comparison has to carry: "one thread, no SIMD" for cpu:scalar, "one
/// thread" for cpu:simd, "no SIMD" for cpu:threads, "half precision" for gpu:half; empty where nothing has to
/// be said.
std::string_view handicap(const LaneSpec& spec);

} // namespace lockstep
