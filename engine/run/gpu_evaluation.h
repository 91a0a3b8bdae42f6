// Loss and accuracy of a network on a Vulkan device. Training has a separate recorder, so that
// its device time counts training steps only.
#pragma once

#include <atomic>
#include <vector>

#include "engine/gpu/recorder.h"
#include "engine/step/gpu_arenas.h"
#include "engine/step/gpu_ops.h"

namespace lockstep {

class GpuEvaluation {
  public:
    /// All references must outlive the object. Uses only the forward kernels of `how`.
    GpuEvaluation(gpu::Device& device, GpuArenas& arenas, Kernels& kernels, const TrainJob& job,
                  const StepKernels& how);

    /// Chooses how many rows to evaluate at a time: as many as a submission has time for. Then dispatches
    /// everything that evaluate() will dispatch, so that the driver compiles it now. Throws gpu::Cancelled
    /// once `cancelled` is set (null: never).
    void warmUp(const std::atomic<bool>* cancelled);

    /// As in TrainerBase, with the current parameters.
    ScoreSum score(Split split, std::vector<std::uint64_t>& confusion);

  private:
    double millisecondsOf(Split split, std::size_t rows);

    const TrainJob& job_;
    GpuArenas& arenas_;
    gpu::Recorder recorder_;
    GpuOps ops_;
    std::size_t chunk_ = Kernels::rowsPerGroup; ///< rows at a time
};

} // namespace lockstep
