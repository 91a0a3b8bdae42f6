// Kernels for networks so small that calls, packing and padding cost more than the arithmetic. Everything
// fits into the first-level cache, and each element of a vector is an example of the batch.
//
// Activations are stored neuron by neuron: X [neurons][stride], the examples of a batch contiguous, `stride`
// a multiple of 16. Copies of the last example, with gradient 0, fill up the last vector of a batch. Arrays
// have rows up to the next multiple of 16 neurons, so that whole blocks can be read; rows after the last
// neuron are 0. Weights, gradients and states lie in the arena as everywhere else. Formulas: net/plain_ops.h.
#pragma once

#include <cstddef>

#include "engine/cpu/cpu_info.h"
#include "engine/net/dataset.h"
#include "engine/net/plain_ops.h"
#include "engine/net/settings.h"

namespace lockstep {

/// Neurons and examples are rounded up to the elements of the longest vectors.
constexpr std::size_t roundUpToGrain(std::size_t value) {
    return (value + mostElements - 1) / mostElements * mostElements;
}

struct SmallShape {
    std::size_t rows = 0; ///< examples in this batch
    std::size_t inputs = 0;
    std::size_t outputs = 0;
    std::size_t weightStride = 0; ///< from one row of W [outputs][inputs] to the next
    std::size_t stride = 0;       ///< of activations, from one neuron to the next
};

/// None of these throws.
struct SmallKernels {
    /// chosen[k] = the example at position first + k of an epoch's order, k < rows; there is room for
    /// roundUpToGrain(rows). Some dozens take hardly longer than a few.
    void (*orderExamples)(std::size_t first, std::size_t rows, std::size_t examples,
                          const shared::OrderKeys& keys, std::uint32_t* chosen);
    /// X [inputs][stride] and targets [targetWidth][stride] of the examples `chosen` [rows].
    void (*gatherBatch)(const Dataset& data, const Examples& examples, const std::uint32_t* chosen,
                        std::size_t rows, std::size_t stride, float* inputs, TargetWord* targets);
    /// Y = f(W X + b); `sums` (may be null) receives what f was applied to.
    void (*dense)(const SmallShape& shape, const float* inputs, const float* weights, const float* bias,
                  Activation activation, float* outputs, float* sums);
    /// dZ of the last layer; returns the sum of the batch's loss terms. LossShape::stride is SmallShape's.
    double (*lossAndGradient)(const LossShape& shape, const float* outputs, const float* saved,
                              const TargetWord* targets, float* dSums);
    /// dZ of the layer below = (W^T dZ) * f'(saved).
    void (*denseBackwardInputs)(const SmallShape& shape, const float* dSums, const float* weights,
                                Activation previous, const float* saved, float* dPreviousSums);
    /// W = keep W + scale dZ X^T, and b alike with the sums of dZ's rows; not read when keep is 0. Gradients
    /// are made with keep 0 and scale 1; keep 1 - lr l2 and scale -lr is plain SGD.
    void (*addWeightGradient)(const SmallShape& shape, const float* dSums, const float* inputs, float keep,
                              float scale, float* weights, float* bias);
};

} // namespace lockstep
