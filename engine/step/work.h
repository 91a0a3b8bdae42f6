// How much work an operation is: floating-point operations, and bytes with each tensor counted once. Both
// machines count with these.
#pragma once

#include "engine/net/plain_ops.h"
#include "engine/net/settings.h"

namespace lockstep {

/// Work of one call, for the whole batch.
struct Work {
    double flops = 0;
    double bytes = 0;
};

/// One multiplication per input (pixels become floats); the source is read, the batch is written. `half` here
/// and below: where a lane of half precision keeps halves, they take 2 bytes.
Work gatherWork(std::size_t rows, std::size_t inputs, bool pixels, bool half = false);

/// Each of the three products of a dense layer (forward, input gradient, weight gradient): a multiplication
/// and an addition per weight and row. Two of its matrices are read, the third is written.
Work denseWork(const DenseShape& shape);
/// Likewise of halves; gradients of weights are floats.
Work halfDenseWork(const DenseShape& shape, bool weightGradient);

/// About five operations per output: exponential, sum, division, difference, scale.
Work lossWork(std::size_t rows, std::size_t outputs, bool half = false);

/// Gradient read, weight and state read and written, and the weight's half. Operations as the formulas of
/// plain::update count them.
Work updateWork(const NetShape& shape, const OptimizerSettings& optimizer, bool half = false);

} // namespace lockstep
