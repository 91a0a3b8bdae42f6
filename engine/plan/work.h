// How much work an operation is: floating-point operations, and bytes with each tensor counted once. Both
// machines count with this. And how many rounds the loops of one invocation make, which software devices
// limit.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "engine/net/dataset.h"
#include "engine/net/plain_ops.h"
#include "engine/plan/plan.h"

namespace lockstep {

/// Work of one call, for the whole batch.
struct Work {
    double flops = 0;
    double bytes = 0;

    friend Work operator+(const Work& a, const Work& b) { return {a.flops + b.flops, a.bytes + b.bytes}; }
};

/// What the work of a step depends on, besides the rows of its batch.
struct StepSizes {
    NetShape net;
    OptimizerSettings optimizer;
    std::size_t targetWidth = 1; ///< words per target
    bool pixels = false;         ///< the data set has bytes, which become floats
    /// A lane of half precision: A, Z and dZ take 2 bytes a number, and products read weights of 2 bytes,
    /// which the update writes beside those of 4.
    bool half = false;
};
/// Those of a run on this data set.
StepSizes sizesOf(const NetShape& net, const OptimizerSettings& optimizer, const Dataset& data,
                  bool half = false);

/// Bytes of `rows` examples of the data set and of their targets.
double dataBytes(const StepSizes& sizes, std::size_t rows);

/// Floating-point operations: flopsOf(), and one per pixel that becomes a float. Bytes: the operation's
/// operands (operandsOf), each tensor once and without padding, and the examples that gathering reads.
Work workOf(const StepSizes& sizes, const PlannedOperation& operation, std::size_t rows);

/// Counts the work of a run's operations once for each number of rows: counting takes longer than a small
/// network's operation.
class StepWork {
  public:
    explicit StepWork(StepSizes sizes) : sizes_(std::move(sizes)) {}

    const StepSizes& sizes() const { return sizes_; }
    /// Beforehand, so that of() neither counts nor allocates for these.
    void count(const StepPlan& plan, std::size_t rows);
    /// As workOf(). Where it was not counted yet, no other thread may ask.
    Work of(const PlannedOperation& operation, std::size_t rows);

  private:
    struct Known {
        Operation operation;
        std::size_t layer;
        std::size_t layers;
        bool adds; ///< to what earlier pieces of the batch left
        std::size_t rows;
        Work work;
    };

    StepSizes sizes_;
    std::vector<Known> known_;
};

/// A dense layer of a network for so many rows: rows of matrices start at multiples of four.
DenseShape denseShapeOf(const NetShape& shape, std::size_t layer, std::size_t rows);

/// A product alone, as benchmarks time it: two of its matrices are read, the third is written.
Work denseWork(const DenseShape& shape);
/// A product of halves alone; gradients of weights are floats.
Work halfDenseWork(const DenseShape& shape, bool weightGradient);

/// Rounds that all loops of one invocation may make in a dispatch: software drivers (lavapipe) end them after
/// that many, in silence.
inline constexpr std::size_t softwareLoopRounds = 65535;
/// The same, with room for an error in counting.
inline constexpr std::size_t mostLoopRounds = 60000;

/// The rounds of a loop whose body makes `inner` more. The last look, which ends the loop, counts too.
constexpr std::size_t loopRounds(std::size_t count, std::size_t inner = 0) { return count * (1 + inner) + 1; }

/// Turns of an invocation over items that `invocations` share.
constexpr std::size_t turnsOf(std::size_t items, std::size_t invocations) {
    return (items + invocations - 1) / invocations;
}

} // namespace lockstep
