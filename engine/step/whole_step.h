// Small networks, whole training steps at a time: a single workgroup runs many steps in one dispatch
// (shaders/step/whole_step.comp).
//
// The shader holds all of trainStep() (engine/plan/step.cpp), from gatherBatch() to update(). It cannot use
// the recipe and its operations: they are separate dispatches, and between two dispatches everything travels
// through memory. Here parameters and activations stay in the workgroup's shared memory from step to step,
// and no time is lost starting dispatches. whole_step_test holds it to the recipe: losses agree
// with those of cpu:scalar, and weights equal those of single operations bit for bit.
#pragma once

#include <cstdint>
#include <string>

#include "engine/gpu/recorder.h"
#include "engine/plan/work.h"
#include "engine/step/gpu_arenas.h"
#include "engine/step/kernels.h"
#include "engine/step/train_job.h"

namespace lockstep {

/// How a workgroup runs a network's step.
struct WholeStepLayout {
    std::uint32_t groupSize = 0;    ///< invocations
    std::uint32_t chunk = 0;        ///< rows of the batch whose activations fit into shared memory at a time
    std::uint32_t sharedFloats = 0; ///< size of shared memory
    /// Limited, because software drivers limit a shader's loops and systems its time.
    std::uint32_t stepsPerDispatch = 0;
    std::string refusal{}; ///< why the network does not fit; empty: it does
};

/// A network fits if its parameters and at least one row of a batch fit into a workgroup's shared memory.
WholeStepLayout wholeStepLayout(const gpu::Device& device, const TrainJob& job);

class WholeStep {
  public:
    /// All references must outlive the object. Throws std::runtime_error with the reason when the network
    /// does not fit.
    WholeStep(Kernels& kernels, GpuArenas& arenas, const TrainJob& job);

    /// "whole-step: 64 invocations, 10 rows at a time, 250 steps per dispatch"
    std::string describe() const;
    /// Records steps [first, first + count) of training with `settings`. count is at most 1,024, and at most
    /// three such submissions may be in flight.
    void record(gpu::Recorder& recorder, const TrainSettings& settings, std::uint64_t first,
                std::uint64_t count);

  private:
    GpuArenas& arenas_;
    const WholeStepLayout layout_;
    const gpu::Kernel<shared::WholeStepParams>& kernel_;
    StepWork work_;
    const PlannedOperation operation_; ///< for counting its work
};

} // namespace lockstep
