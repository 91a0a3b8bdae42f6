// The steps of a population on a GPU: records of what changes from step to step, and the dispatches that read
// them.
//
// A fused form of the recipe (engine/step/step.cpp): one dispatch makes many whole steps, lines 1 to 5, of
// all networks (shaders/grid/population_{invocation,subgroup,workgroup}.comp). It cannot use the recipe
// itself, whose every operation is a dispatch: for networks this small a dispatch costs more than the whole
// step. tests/population_gpu_test.cpp compares every layout with the same networks trained alone by the
// recipe.
#pragma once

#include <cstdint>
#include <span>

#include "engine/gpu/recorder.h"
#include "engine/grid/grid_pace.h"
#include "engine/grid/population_arenas.h"

namespace lockstep {

class PopulationTraining {
  public:
    /// `arenas` must outlive the object. Throws gpu::OutOfMemoryError, other gpu::GpuErrors.
    PopulationTraining(PopulationArenas& arenas, const PopulationPlan& plan);

    /// How many steps from `first` on one dispatch may make; at most `wanted`.
    std::uint32_t stepsFrom(std::uint64_t first, std::uint64_t wanted) const;
    /// Writes the records of steps [first, first + steps), at most stepsFrom(), before the first record() of
    /// them. No more than three submissions of other steps may be in flight. Throws gpu::GpuError.
    void prepare(std::uint64_t first, std::uint32_t steps);
    /// Network-steps of one record() at most: the order of their examples must fit into its buffer.
    double mostNetworkSteps() const;
    /// Networks whose first step takes milliseconds on any device and in any layout; at least one, which may
    /// take as long as mostWorkOfInvocation does.
    std::uint32_t quickNetworks() const;
    /// Records every kernel once, because drivers compile at the first use, and submits. Nothing is learned.
    /// Throws gpu::DeviceLostError, gpu::TimeoutError, other gpu::GpuErrors, and std::runtime_error if the
    /// device refuses a kernel.
    void recordWarmUp(gpu::Recorder& recorder);
    /// Records these steps of the networks at places [place, place + slice.networks). Throws gpu::GpuError.
    void record(gpu::Recorder& recorder, std::uint64_t first, std::uint32_t place,
                const PopulationSlice& slice);

    const PopulationPlan plan;

  private:
    shared::PopulationTrainParams paramsOf(std::uint64_t first, std::uint32_t place,
                                           const PopulationSlice& slice) const;
    void recordOrder(gpu::Recorder& recorder, const shared::PopulationTrainParams& params);
    void writeOrder(const BatchRange& batch, std::span<std::uint32_t> words) const;

    PopulationArenas& arenas_;
    const PopulationJob& job_;
    const BatchOrder order_;
    const std::uint32_t ringRecords_;
    gpu::Buffer records_; ///< ring: step s is at s % ringRecords_
    gpu::Buffer orders_;  ///< of examples: one for all, likewise a ring, or every network's of a dispatch
};

} // namespace lockstep
