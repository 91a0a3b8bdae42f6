// How much work an operation is: floating-point operations, and bytes with each tensor counted once. Both
// machines count with these. And how many rounds the loops of one invocation make, which software devices
// limit.
#pragma once

#include <cstddef>

#include "engine/net/plain_ops.h"
#include "engine/net/settings.h"

namespace lockstep {

/// Work of one call, for the whole batch.
struct Work {
    double flops = 0;
    double bytes = 0;

    friend Work operator+(const Work& a, const Work& b) { return {a.flops + b.flops, a.bytes + b.bytes}; }
};

/// One multiplication per input (pixels become floats); the source is read, the batch is written. `half` here
/// and below: where a lane of half precision keeps halves, they take 2 bytes.
Work gatherWork(std::size_t rows, std::size_t inputs, bool pixels, bool half = false);

/// A dense layer of a network for so many rows: rows of matrices start at multiples of four.
DenseShape denseShapeOf(const NetShape& shape, std::size_t layer, std::size_t rows);

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

/// Rounds that all loops of one invocation may make in a dispatch: software drivers (lavapipe) end them after
/// that many, in silence.
inline constexpr std::size_t softwareLoopRounds = 65535;
/// The same, with room for an error in counting.
inline constexpr std::size_t mostLoopRounds = 60000;

/// Of a loop whose body makes `inner` rounds more. The last look, which ends the loop, counts too.
constexpr std::size_t loopRounds(std::size_t count, std::size_t inner = 0) { return count * (1 + inner) + 1; }

/// Turns of an invocation over items that `invocations` share.
constexpr std::size_t turnsOf(std::size_t items, std::size_t invocations) {
    return (items + invocations - 1) / invocations;
}

} // namespace lockstep
