// What training in half precision keeps besides GpuArenas. Parameters, their gradients and the optimizer's
// state stay floats; products read halves: the batch, activations, gradients of sums, which lie in the arenas
// at the same places and take half of them, and copies of the weights, which are here. Method: Micikevicius
// et al. 2018, "Mixed precision training", arXiv 1710.03740.
#pragma once

#include <span>
#include <vector>

#include "engine/train/gpu_arenas.h"
#include "engine/train/step_trace.h"

namespace lockstep {

class HalfArenas {
  public:
    static constexpr float largest = 65504; ///< number of half precision

    /// `parameters` as the whole arena; `arenas` must outlive the object.
    HalfArenas(gpu::Device& device, const GpuArenas& arenas, std::span<const float> parameters);

    /// The weights of a layer, [outputs][inputs rounded up to four] of halves.
    gpu::BufferView weights(std::size_t layer) const;
    gpu::BufferView allWeights() const { return weights_.view(); }
    gpu::BufferView table() const { return table_.view(); }         ///< shaders/layer_table.glsl
    gpu::BufferView lossScale() const { return lossScale_.view(); } ///< shaders/loss_scale.glsl

    /// Copies of these parameters, rounded, and the loss scaled as at first. Nothing may be training.
    void restore(std::span<const float> parameters);

    /// As GpuArenas::tensor(): what the kernels read and wrote, with gradients as they are without the scale
    /// of the loss.
    std::vector<float> tensor(const TensorId& id, std::size_t floats) const;

    /// Steps so far whose gradients overflowed, so that nothing was learned from them. Waits for the device.
    std::uint32_t skippedSteps() const;

  private:
    struct LossScale { // shaders/loss_scale.glsl
        float scale = shared::lossScaleMost;
        float unscale = 1.0f / shared::lossScaleMost;
        std::uint32_t overflowed = 0;
        std::uint32_t goodSteps = 0;
        std::uint32_t skippedSteps = 0;
    };

    LossScale scaleNow() const;

    const GpuArenas& arenas_;
    std::vector<std::uint32_t> offsets_; // of each layer's weights, in halves
    gpu::Buffer weights_;
    gpu::Buffer table_;
    gpu::Buffer lossScale_;
};

} // namespace lockstep
