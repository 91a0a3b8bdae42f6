// The operations of a training step. The recipe (step.cpp: trainStep, scoreRange) calls them in order, a
// backend carries them out: CpuOps and SmallOps compute immediately, GpuOps records dispatches.
#pragma once

#include <cstddef>

#include "engine/net/dataset.h"
#include "engine/net/settings.h"

namespace lockstep {

/// Notation: rows are the examples of the batch, layers count from l = 0. A[0] is the batch's inputs, Z[l]
/// the preactivations of layer l, A[l + 1] = f(Z[l]) its outputs, W[l] and b[l] its weights and biases. A d
/// in front means the gradient of the loss: dZ[l], dW[l], db[l].
///
/// If a step's loss is not finite, the step leaves all weights as they were, so that they can be examined.
class Ops {
  public:
    virtual ~Ops() = default;

    /// A[0] and the targets = the examples of this step, in the order that the seed gives.
    virtual void gatherBatch(const StepSettings& step) = 0;
    /// Z[l] = A[l] W[l]^T + b[l], A[l + 1] = f(Z[l]).
    virtual void dense(std::size_t layer) = 0;
    /// dZ of the last layer, and the batch's mean loss. The loss is stored under the step's number, before
    /// any weight changes.
    virtual void lossAndGradient(const StepSettings& step) = 0;
    /// dZ[l - 1] = (dZ[l] W[l]) * f'(Z[l - 1]), element by element, for l > 0.
    virtual void denseBackwardInputs(std::size_t layer) = 0;
    /// dW[l] = dZ[l]^T A[l], db[l] = the column sums of dZ[l].
    virtual void denseBackwardWeights(std::size_t layer) = 0;
    /// One optimizer step on all parameters.
    virtual void update(const StepSettings& step) = 0;

    /// Whether the update is folded into the weight gradients. If so, the next operation replaces
    /// denseBackwardWeights() and update().
    virtual bool foldsUpdate() const = 0;
    /// dW[l] and db[l] as above, and one optimizer step on W[l] and b[l]. The gradients are not stored.
    virtual void denseBackwardWeightsAndUpdate(std::size_t layer, const StepSettings& step) = 0;

    /// A[0] and the targets = examples [first, first + rows) of a split, in file order.
    virtual void gatherRange(Split split, std::size_t first, std::size_t rows) = 0;
    /// Adds the loss, the number of correct predictions and the confusion matrix of the current rows to the
    /// evaluation in progress.
    virtual void score() = 0;
};

/// One step of minibatch gradient descent.
void trainStep(Ops& ops, const NetShape& net, const StepSettings& step);

/// Forward pass and score of examples [first, first + rows) of a split.
void scoreRange(Ops& ops, const NetShape& net, Split split, std::size_t first, std::size_t rows);

} // namespace lockstep
