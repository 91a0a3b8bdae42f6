// The weights' gradients of a layer and the optimizer's step with them, over random numbers: by a kernel that
// folds both into one, checked against the processor and timed; and what the step costs by itself.
#pragma once

#include <deque>
#include <vector>

#include "engine/gpu/recorder.h"
#include "engine/net/settings.h"
#include "engine/step/kernels.h"
#include "engine/tune/product_trial.h"

namespace lockstep {

class UpdateTrial {
  public:
    /// `shape` as of the layer: rows of the batch, inputs, outputs, strides.
    UpdateTrial(gpu::Device& device, const DenseShape& shape, Optimizer optimizer);

    /// One step of the folded kernel, compared: parameters and state; then, if right, timed.
    TrialResult measureFolded(const DenseUpdateKernel& kernel, int rounds);

    /// Milliseconds of the operation `update` on this layer's parameters, the best of a few.
    double measureUpdate(const gpu::Kernel<shared::UpdateParams>& kernel, int rounds);

  private:
    void uploadParameters();
    void computeExpected();
    double compare() const;

    const DenseShape shape_;
    const Optimizer optimizer_;
    shared::UpdateParams step_{};
    std::vector<float> dSums_;
    std::vector<float> inputs_;
    std::vector<std::vector<float>> before_; // parameters, then state, as the step finds them
    std::vector<std::vector<float>> expected_;
    gpu::Buffer dSumsBuffer_;
    gpu::Buffer inputsBuffer_;
    gpu::Buffer status_;
    gpu::Buffer gradients_;          // of measureUpdate
    std::deque<gpu::Buffer> arenas_; // their order is that of before_
    gpu::Recorder recorder_;         // last, so that it ends first: its work uses the buffers
};

} // namespace lockstep
