// What training in half precision keeps besides GpuArenas. Parameters, their gradients and the optimizer's
// state stay floats; products read halves: the batch, activations, gradients of sums, and copies of
// the weights, all of them in the arenas. Method: Micikevicius et al. 2018, "Mixed precision training", arXiv
// 1710.03740.
#pragma once

#include <span>
#include <vector>

#include "engine/plan/tensor.h"
#include "engine/step/gpu_arenas.h"

namespace lockstep {

class HalfArenas {
  public:
    static constexpr float largest = 65504; ///< number of half precision

    /// `parameters` as the whole arena; `arenas` must outlive the object.
    HalfArenas(gpu::Device& device, GpuArenas& arenas, std::span<const float> parameters);

    /// The weights of a layer, [outputs][inputs rounded up to four] of halves.
    gpu::BufferView weights(std::size_t layer) const;
    gpu::BufferView allWeights() const { return copies().view(); }
    gpu::BufferView table() const { return arenas_.layerPlaces.view(); } ///< shaders/step/layer_table.glsl
    gpu::BufferView lossScale() const { return lossScale_.view(); }      ///< shaders/step/loss_scale.glsl

    /// Copies of these parameters, rounded, and the loss scaled like that. Nothing may be training.
    void restore(std::span<const float> parameters, const LossScaling& scaling);

    /// What GpuArenas has not.
    std::vector<AllocatedBuffer> buffers() const { return {{RunBuffer::lossScale, lossScale_}}; }

    LossScaling scaling() const; ///< waits for the device
    /// Whether gradients of the last step did; waits for the device.
    bool overflowed() const { return scaleNow().overflowed != 0; }

    /// As GpuArenas::tensor() of a step, with gradients as they are without the scale of the loss. Weights
    /// are those of the optimizer, which products read rounded.
    std::vector<float> tensor(const TensorId& id, std::size_t count) const;

  private:
    struct LossScale { // shaders/step/loss_scale.glsl
        float scale;
        float unscale;
        std::uint32_t overflowed;
        std::uint32_t goodSteps;
        std::uint32_t skippedSteps;
    };

  public:
    static constexpr std::size_t placeBytes = 4 * sizeof(std::uint32_t); ///< of LayerPlace, layer_table.glsl
    static constexpr std::size_t lossScaleBytes = sizeof(LossScale);

  private:
    LossScale scaleNow() const { return lossScale_.downloadValues<LossScale>(1).front(); }

    std::size_t offsetOf(std::size_t layer) const { // of its weights, in bytes
        return arenas_.memory.step.at({TensorKind::weightCopies, layer}).offset;
    }

    gpu::Buffer& copies() const { return arenas_.weightCopies.value(); }

    GpuArenas& arenas_;
    gpu::Buffer lossScale_;
};

} // namespace lockstep
