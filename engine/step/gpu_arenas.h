// The memory of one training run on a Vulkan device: everything that a step touches lives there.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "engine/gpu/buffer.h"
#include "engine/net/param_layout.h"
#include "engine/net/plain_ops.h"
#include "engine/plan/tensor.h"
#include "engine/step/train_job.h"
#include "shaders/shared/params.h"

namespace lockstep {

/// One split of the data set as the kernels read it. Rows are padded to 16 bytes.
struct GpuExamples {
    GpuExamples(gpu::Device& device, const Dataset& data, const Examples& examples, const char* name);

    std::size_t count;
    std::uint32_t sourceStride; ///< 32-bit words from one example to the next, a multiple of four
    gpu::Buffer source;         ///< pixels as bytes, or floats
    gpu::Buffer answers;        ///< class numbers or the bits of target values
};

/// Throws gpu::OutOfMemoryError, naming a batch or saying that narrower layers are needed, when the job does
/// not fit into what the device has left, and gpu::GpuError when it breaks another limit of the device.
/// half   for a lane of half precision
void requireMemory(const gpu::Device& device, const TrainJob& job, bool half = false);

/// A layer's weights in an arena of parameters or gradients (ParamLayout), and its bias.
inline gpu::BufferView weightsIn(const gpu::Buffer& arena, const LayerLayout& place) {
    return arena.view(place.weightOffset * sizeof(float), place.weightCount() * sizeof(float));
}
inline gpu::BufferView biasIn(const gpu::Buffer& arena, const LayerLayout& place) {
    return arena.view(place.biasOffset * sizeof(float), place.biasCount() * sizeof(float));
}

/// Workgroups of last_layer.comp for a batch: those of whole blocks of 128 rows.
constexpr std::uint32_t lastLayerGroups(std::size_t rows) {
    return static_cast<std::uint32_t>((rows + 127) / 128 * 128 / shared::lastLayerRows);
}

class GpuArenas {
  public:
    /// Uploads the data set and the initial weights. Throws gpu::OutOfMemoryError.
    GpuArenas(gpu::Device& device, const TrainJob& job);

    const NetShape shape;
    const ParamLayout layout;
    const BatchOrder order;
    const std::uint32_t targetKind;
    const std::uint32_t targetWidth; ///< words per target
    const bool pixels;
    const std::size_t classes;
    const std::size_t capacity; ///< rows that the activations hold: a batch, or a chunk of an evaluation

    static constexpr std::uint32_t ringSlots = 1u << 14;

    gpu::Buffer parameters;
    gpu::Buffer gradients;
    std::deque<gpu::Buffer> optimizerState; ///< OptimizerSettings::stateArrays() arenas
    GpuExamples train;
    std::optional<GpuExamples> test; ///< absent when the test split is empty

    gpu::Buffer losses; ///< ring of ringSlots floats, mapped: step s is at slot s % ringSlots
    gpu::Buffer status; ///< one word: the first step whose loss was not finite, or noStep
    gpu::Buffer lossPartials;
    gpu::Buffer lastLayerPartials; ///< of last_layer.comp: its counter, then a sum per workgroup
    gpu::Buffer targets;           ///< of the batch at hand
    gpu::Buffer scoreSums;         ///< mapped
    gpu::Buffer scoreCounts;       ///< mapped: hits, then the confusion matrix

    const GpuExamples& examples(Split split) const;
    /// Floats per row of A[level].
    std::uint32_t stride(std::size_t level) const {
        return static_cast<std::uint32_t>(roundUpToFour(shape.widths[level]));
    }
    gpu::BufferView activations(std::size_t level, std::size_t rows) const; ///< A[level], level 0 to layers
    /// Z[layer], or its outputs when not kept: what the activation's derivative is computed from.
    gpu::BufferView sums(std::size_t layer, std::size_t rows) const;
    gpu::BufferView dSums(std::size_t layer, std::size_t rows) const;
    gpu::BufferView allActivations() const { return activations_.view(); }
    gpu::BufferView allDSums() const { return dSums_.view(); }
    gpu::BufferView weights(std::size_t layer) const { return weightsIn(parameters, layout.layer(layer)); }
    gpu::BufferView bias(std::size_t layer) const { return biasIn(parameters, layout.layer(layer)); }
    gpu::BufferView dWeights(std::size_t layer) const { return weightsIn(gradients, layout.layer(layer)); }
    gpu::BufferView dBias(std::size_t layer) const { return biasIn(gradients, layout.layer(layer)); }
    /// An arena of the optimizer's state; the parameters again, where it keeps fewer: a kernel does not touch
    /// what is bound in its place.
    const gpu::Buffer& state(std::size_t index) const {
        return index < optimizerState.size() ? optimizerState[index] : parameters;
    }
    /// What an arena of parameters (or gradients, or state) has of one layer: its weights, then its bias.
    gpu::BufferView layerOf(const gpu::Buffer& arena, std::size_t layer) const;
    /// The first `floats` floats of a tensor as it is now. Waits for the device.
    std::vector<float> tensor(const TensorId& id, std::size_t floats) const;

  private:
    std::vector<std::uint64_t> activationOffsets_; ///< bytes, by level
    std::vector<std::uint64_t> dSumOffsets_;       ///< bytes, by layer
    gpu::Buffer activations_;
    gpu::Buffer sums_; ///< laid out like dSums; 16 bytes when no activation needs it
    gpu::Buffer dSums_;
};

} // namespace lockstep
