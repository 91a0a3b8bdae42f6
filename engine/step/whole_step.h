// Small networks, whole training steps at a time: one dispatch of one workgroup does many steps from batch to
// update (shaders/step/whole_step.comp). A kitchen of its own: what it computes is what step.cpp says, in the
// same order of sums.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/gpu/recorder.h"
#include "engine/step/gpu_arenas.h"
#include "engine/step/kernels.h"
#include "engine/step/train_job.h"

namespace lockstep {

/// How a network's step is laid out in a workgroup.
struct WholeStepLayout {
    std::uint32_t groupSize = 0;        ///< invocations
    std::uint32_t chunk = 0;            ///< rows whose activations fit into shared memory at a time
    std::uint32_t sharedFloats = 0;     ///< of shared memory
    std::uint32_t stepsPerDispatch = 0; ///< software drivers limit a shader's loops, systems its time
};

/// Empty, with the reason in `why` (not null) when the network does not fit: its parameters and at least one
/// row of a batch have to fit into a workgroup's shared memory.
std::optional<WholeStepLayout> wholeStepLayout(const gpu::Device& device, const TrainJob& job,
                                               std::string* why = nullptr);

class WholeStep {
  public:
    /// All references must outlive the object. Throws std::runtime_error with the reason when the network
    /// does not fit.
    WholeStep(Kernels& kernels, GpuArenas& arenas, const TrainJob& job);

    /// "whole-step: 64 invocations, 10 rows at a time, 250 steps per dispatch"
    std::string describe() const;
    /// Records steps [first, first + count) of training with `settings`; count is at most 1,024, and at most
    /// three such submissions may be on their way.
    void record(gpu::Recorder& recorder, const TrainSettings& settings, std::uint64_t first,
                std::uint64_t count);

  private:
    static constexpr std::uint64_t ringRecords = 4096; ///< of steps recorded and not yet done

    GpuArenas& arenas_;
    const WholeStepLayout layout_;
    const gpu::Kernel<shared::WholeStepParams>& kernel_;
    gpu::Buffer records_; ///< ring: step s is at s % ringRecords
};

} // namespace lockstep
