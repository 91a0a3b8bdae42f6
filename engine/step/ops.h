// The operations of a training step: what the recipe (step.cpp) says, and what a kitchen has to cook.
// CpuOps computes at once; GpuOps records dispatches. Neither knows the other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/net/dataset.h"
#include "engine/net/settings.h"

namespace lockstep {

/// Notation (rows = examples of the batch, layer l from 0): A[0] the batch's inputs, A[l + 1] the outputs of
/// layer l, Z[l] its sums before the activation, dZ[l] the gradient of the loss with respect to them, W[l],
/// b[l], dW[l], db[l].
class Ops {
  public:
    virtual ~Ops() = default;

    /// A[0] and the targets = the examples of this step, in the order that the seed gives.
    virtual void gatherBatch(const StepSettings& step) = 0;
    /// A[l + 1] = f(A[l] W[l]^T + b[l]).
    virtual void dense(std::size_t layer) = 0;
    /// The batch's mean loss, noted under the step's number, and dZ of the last layer.
    virtual void lossAndGradient(const StepSettings& step) = 0;
    /// dZ[l - 1] = (dZ[l] W[l]) * f'(Z[l - 1]) unless l is 0, then dW[l] = dZ[l]^T A[l] and db[l] = column
    /// sums of dZ[l].
    virtual void denseBackward(std::size_t layer) = 0;
    /// Nothing on one device; the all-reduce of gradients in a data-parallel run.
    virtual void exchange() = 0;
    /// One optimizer step on all parameters. Does nothing once a step's loss was not finite, so that the
    /// weights which led there can be looked at.
    virtual void update(const StepSettings& step) = 0;

    /// A[0] and the targets = examples [first, first + rows) of a split, in file order.
    virtual void gatherRange(Split split, std::size_t first, std::size_t rows) = 0;
    /// Adds the loss, the hits and the confusion matrix of the rows at hand to the evaluation under way.
    virtual void score() = 0;
};

} // namespace lockstep
