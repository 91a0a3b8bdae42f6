// Loss, accuracy and answers of a network on a Vulkan device, apart from its training: with a recorder of its
// own, so that the device time of steps stays theirs.
#pragma once

#include <vector>

#include "engine/gpu/recorder.h"
#include "engine/run/trainer.h"
#include "engine/step/gpu_arenas.h"
#include "engine/step/gpu_ops.h"

namespace lockstep {

class GpuEvaluation {
  public:
    /// All references must outlive the object. Only forward kernels of `how` are used.
    GpuEvaluation(gpu::Device& device, GpuArenas& arenas, Kernels& kernels, const TrainJob& job,
                  const StepKernels& how);

    /// As Trainer::evaluate() and predict(), `chunk` rows at a time, with the parameters as they are: nothing
    /// may be training meanwhile.
    Evaluation evaluate(Split split, std::size_t chunk);
    std::vector<float> predict(Split split, std::size_t first, std::size_t rows, std::size_t chunk);

  private:
    std::size_t countOf(Split split) const;

    const TrainJob& job_;
    GpuArenas& arenas_;
    gpu::Recorder recorder_;
    GpuOps ops_;
};

} // namespace lockstep
