// The memory of one training run on a Vulkan device: everything that a step touches lives there.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "engine/gpu/buffer.h"
#include "engine/many/step_exchange.h"
#include "engine/net/param_layout.h"
#include "engine/net/plain_ops.h"
#include "engine/plan/tensor.h"
#include "engine/step/gpu_memory.h"
#include "engine/step/train_job.h"
#include "shaders/shared/params.h"

namespace lockstep {

/// One split of the data set as the kernels read it.
struct GpuExamples {
    /// Uploads `examples` of the data set. inputs, answers: names of the buffers.
    GpuExamples(gpu::Device& device, const GpuMemory& memory, const Dataset& data, const Examples& examples,
                RunBuffer inputs, RunBuffer answers);

    std::size_t count;
    std::uint32_t sourceStride; ///< 32-bit words from one example to the next, a multiple of four
    gpu::Buffer source;         ///< pixels as bytes, or floats
    gpu::Buffer answers;        ///< class numbers or the bits of target values
};

/// A layer's weights in an arena of parameters or gradients (ParamLayout), and its bias.
inline gpu::BufferView weightsIn(const gpu::Buffer& arena, const LayerLayout& place) {
    return arena.view(place.weightOffset * sizeof(float), place.weightCount() * sizeof(float));
}
inline gpu::BufferView biasIn(const gpu::Buffer& arena, const LayerLayout& place) {
    return arena.view(place.biasOffset * sizeof(float), place.biasCount() * sizeof(float));
}

class GpuArenas {
  public:
    /// Allocates `memory`; uploads the data set and the initial weights. Throws gpu::OutOfMemoryError.
    GpuArenas(gpu::Device& device, const TrainJob& job, GpuMemory memory);

    const GpuMemory memory;
    const NetShape shape;
    const ParamLayout layout;
    const BatchOrder order;
    RankWatch* const watch; ///< may be null
    const std::uint32_t targetKind;
    const std::uint32_t targetWidth; ///< words per target
    const bool pixels;
    const std::size_t classes;
    const TrainSettings settings; ///< as the run began

    gpu::Buffer parameters;
    gpu::Buffer gradients; ///< not to be touched when no operation of the plan writes them
    /// What products read in the place of weights, if that is another number format (HalfArenas, or rounded).
    std::optional<gpu::Buffer> weightCopies;
    std::optional<gpu::Buffer> largestOperands; ///< of tensors that are rounded with a scale, by scaleSlot()
    std::deque<gpu::Buffer> optimizerState;     ///< OptimizerSettings::stateArrays() arenas
    GpuExamples train;
    std::optional<GpuExamples> test; ///< absent when the test split is empty

    std::optional<StepExchange> ranks; ///< where several share the job

    gpu::Buffer losses; ///< ring of GpuMemory::ringSlots floats, mapped: step s is at slot s % ringSlots
    gpu::Buffer status; ///< one word: the first step whose loss was not finite, or noStep
    gpu::Buffer lossPartials;
    gpu::Buffer lastLayerPartials; ///< of last_layer.comp: its counter, then a sum per workgroup
    gpu::Buffer targets;           ///< of the batch at hand
    gpu::Buffer scoreSums;         ///< mapped
    gpu::Buffer scoreCounts;       ///< hits, then the confusion matrix
    gpu::Buffer layerPlaces;       ///< for weight_gradients.comp or, in half precision, layer_table.glsl
    /// Gradients of all layers, mapped, on their way to other ranks and back; later, the parameters.
    std::optional<gpu::Buffer> exchanged;
    std::optional<gpu::Buffer>
        stepRecords; ///< of whole steps, a ring: step s is at s % GpuMemory::stepRecords

    /// What ranks exchange of some layers, in the host's memory.
    std::span<float> exchangedFloats(std::size_t first, std::size_t layers);

    const GpuExamples& examples(Split split) const;
    /// Floats per row of A[level].
    std::uint32_t stride(std::size_t level) const {
        return static_cast<std::uint32_t>(roundUpToFour(shape.widths[level]));
    }
    /// A tensor of the batch at hand, its first `rows` rows. `table` is memory.step or memory.evaluation.
    gpu::BufferView view(const TensorTable& table, const TensorId& id, std::size_t rows) const;
    /// All of the run's, but those of HalfArenas.
    std::vector<AllocatedBuffer> buffers() const;
    /// All A of a step, and all dZ.
    gpu::BufferView allActivations() const {
        return activations_.view(0, memory.step.arenaBytes(TensorArena::activations));
    }
    gpu::BufferView allDSums() const { return dSums_.view(0, memory.step.arenaBytes(TensorArena::dSums)); }
    gpu::BufferView weights(std::size_t layer) const { return weightsIn(parameters, layout.layer(layer)); }
    gpu::BufferView bias(std::size_t layer) const { return biasIn(parameters, layout.layer(layer)); }
    gpu::BufferView dWeights(std::size_t layer) const {
        return gradients.view(gradientsOf(layer).begin * sizeof(float),
                              layout.layer(layer).weightCount() * sizeof(float));
    }
    gpu::BufferView dBias(std::size_t layer) const {
        const LayerLayout& place = layout.layer(layer);
        return gradients.view((gradientsOf(layer).begin + place.biasOffset - place.weightOffset) *
                                  sizeof(float),
                              place.biasCount() * sizeof(float));
    }
    /// Both of them, and the padding behind.
    gpu::BufferView gradientsIn(std::size_t layer) const {
        return gradients.view(gradientsOf(layer).begin * sizeof(float),
                              gradientsOf(layer).size() * sizeof(float));
    }
    FloatRange gradientsOf(std::size_t layer) const {
        return ranks ? ranks->shards().gradients(layer)
                     : FloatRange{layout.layer(layer).weightOffset, layout.endOf(layer)};
    }
    /// An arena of the optimizer's state; the parameters again, where it keeps fewer: a kernel does not touch
    /// what is bound in its place.
    const gpu::Buffer& state(std::size_t index) const {
        return index < optimizerState.size() ? optimizerState[index] : parameters;
    }
    /// What an arena of parameters (or gradients, or state) has of one layer: its weights, then its bias.
    gpu::BufferView layerOf(const gpu::Buffer& arena, std::size_t layer) const;
    /// The first `count` numbers of a tensor as it is now. Waits for the device.
    std::vector<float> tensor(const TensorTable& table, const TensorId& id, std::size_t count) const;

  private:
    const gpu::Buffer& arena(TensorArena which) const;

    gpu::Buffer activations_;
    gpu::Buffer sums_; ///< not to be touched when no activation needs it
    gpu::Buffer dSums_;
    std::optional<gpu::Buffer> hostActivations_; ///< of a run that leaves some there
};

} // namespace lockstep
