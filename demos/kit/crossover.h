// The crossover: examples per second of processor and GPU over batch or width, and where one passes the
// other.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "demos/kit/lane_measure.h"
#include "demos/kit/run_settings.h"
#include "engine/run/lane.h"

namespace lockstep::demos {

enum class SweepBy { batch, width };
inline constexpr std::string_view sweepWords[] = {"batch", "width"}; ///< by SweepBy
inline std::string_view nameOf(SweepBy by) { return sweepWords[static_cast<std::size_t>(by)]; }

/// One size: cpu:best and gpu:best (for every product its fastest right kernel) on the same network.
struct SweepPoint {
    std::size_t value = 0; ///< batch, or width of every hidden layer
    double cpuSamples = 0; ///< per second; 0: not timed
    double gpuSamples = 0;
    StepParts parts;       ///< of a GPU step made by itself
    double uploadOnce = 0; ///< seconds: data set and weights, before the first step
    std::uint64_t uploadBytes = 0;
    std::string failure; ///< why a side has no time; empty: both have
    MachineInfo cpu;
    MachineInfo gpu;

    bool compared() const { return cpuSamples > 0 && gpuSamples > 0; }
};

/// Those that have both times.
std::vector<SweepPoint> compared(const std::vector<SweepPoint>& points);

/// Sizes to measure: powers of four of batches that the data have examples for, powers of two of widths.
std::vector<std::size_t> sweepValues(SweepBy by, std::size_t examples);
/// The settings with that size.
RunOptions settingsFor(RunOptions run, SweepBy by, std::size_t value);

/// Measures one size on both machines, each for about `seconds`.
SweepPoint measurePoint(std::size_t value, const TrainJob& job, const Lane::MakeTrainer& makeCpu,
                        const Lane::MakeTrainer& makeGpu, gpu::Device& device, double seconds,
                        const std::atomic<bool>& cancelled);

/// Where one becomes faster than the other, between two measured sizes, on logarithmic scales.
struct Crossing {
    double value = 0;
    double rate = 0; ///< samples per second of both
    bool gpuFasterBeyond = true;
};
std::vector<Crossing> crossingsOf(const std::vector<SweepPoint>& points);
/// "From batch 512 on, gpu:best is faster." or that there is no crossing, with the range that was measured.
std::string crossingText(const std::vector<SweepPoint>& points, SweepBy by);

} // namespace lockstep::demos
