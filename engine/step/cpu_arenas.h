// The memory of one training run on a processor: what its threads share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/cpu/kernels.h"
#include "engine/cpu/memory.h"
#include "engine/net/param_layout.h"
#include "engine/step/train_job.h"

namespace lockstep {

/// Arrays of one layer for a whole batch, [rows][stride of the layer's outputs].
struct LayerArrays {
    AlignedArray<float> outputs; ///< A[l + 1]
    AlignedArray<float> sums;    ///< Z[l], only where the activation's derivative needs it
    AlignedArray<float> dSums;   ///< dZ[l]
};

/// The threads share these arrays without locks: between two barriers, each writes rows (or slices of
/// weights) of its own.
struct CpuArenas {
    /// Parameters are the seed's initial weights. Throws std::bad_alloc.
    CpuArenas(const TrainJob& job, const CpuKernels& kernels, std::size_t threads);

    const Dataset& data;
    const NetShape shape;
    OptimizerSettings optimizer;
    const ParamLayout layout;
    const BatchOrder order;
    const std::uint32_t targetKind;
    const CpuKernels& kernels;
    bool foldsUpdate;           ///< the update happens inside the weight gradient; there are no gradients
    const std::size_t capacity; ///< rows that the activations hold: a batch, or a chunk of an evaluation

    AlignedArray<float> parameters;
    AlignedArray<float> gradients; ///< empty when foldsUpdate
    std::vector<AlignedArray<float>> optimizerState;

    AlignedArray<float> inputs; ///< A[0] [capacity][layer 0's row stride]
    AlignedArray<TargetWord> targets;
    std::vector<LayerArrays> layers;

    /// One part of a batch's loss, on a cache line of its own.
    struct alignas(64) PartialLoss {
        double sum = 0;
    };
    std::vector<PartialLoss> partialLosses; ///< one per part: as many as threads

    /// What activationDerivative takes for layer `layer`: its sums, or its outputs.
    const float* saved(std::size_t layer) const;
    /// Settings of the same kind, between steps: whether the update can be folded may change with them.
    void setOptimizer(const OptimizerSettings& settings);
    DenseShape denseShape(std::size_t layer, std::size_t rows) const;
    std::size_t outputStride(std::size_t layer) const { return roundUpToFour(shape.widths[layer + 1]); }
    float* stateArray(std::size_t index); ///< null when the optimizer keeps fewer
};

} // namespace lockstep
