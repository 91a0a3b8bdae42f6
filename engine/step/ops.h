// What a backend can do: the operations of a training step (operation.h), carried out in the order of a plan.
// CpuOps and SmallOps compute immediately, GpuOps records dispatches.
#pragma once

#include <cstddef>

#include "engine/net/dataset.h"
#include "engine/net/settings.h"
#include "engine/plan/plan.h"

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
    /// One optimizer step on the parameters of layers [first, first + layers).
    virtual void update(const StepSettings& step, std::size_t first, std::size_t layers) = 0;

    /// Any operation of a plan that has no function here. Throws std::logic_error for one that the backend
    /// does not have.
    virtual void carryOut(const PlannedOperation& operation, const StepSettings& step);

    // In the place of several of them, where a rewrite (rewrites.h) has put them. A backend has those that
    // its plans hold; the others throw std::logic_error.

    /// dW[l] and db[l] as above, and one optimizer step on W[l] and b[l]. The gradients are not stored.
    virtual void denseBackwardWeightsAndUpdate(std::size_t layer, const StepSettings& step);
    /// gatherBatch(), and dense() of the first layer.
    virtual void gatheredDense(const StepSettings& step);
    /// dense() and denseBackwardInputs() of the last layer, with lossAndGradient() between them.
    virtual void lastLayer(const StepSettings& step);
    /// denseBackwardWeightsAndUpdate() of all layers.
    virtual void weightGradients(const StepSettings& step);

    // Evaluation.

    /// A[0] and the targets = examples [first, first + rows) of a split, in file order.
    virtual void gatherRange(Split split, std::size_t first, std::size_t rows) = 0;
    /// Adds the loss, the number of correct predictions and the confusion matrix of the current rows to the
    /// evaluation in progress.
    virtual void score() = 0;

  protected:
    /// What execute() is at; null while none is being carried out.
    const PlannedOperation* planned() const { return planned_; }
    /// Whether the backend takes a batch in pieces: gatherBatch() is then asked for each, with a range of the
    /// batch; lossAndGradient() counts the terms of the whole batch, which `step` tells, and
    /// denseBackwardWeights() adds where planned()->piece > 0.
    virtual bool takesPieces() const { return false; }

  private:
    friend void execute(Ops& ops, const StepPlan& plan, const StepSettings& step);

    const PlannedOperation* planned_ = nullptr;
};

/// Carries out a plan, an operation after the other: at once, or by recording. Throws std::logic_error where
/// the backend has no such operation, or takes no pieces of a batch.
void execute(Ops& ops, const StepPlan& plan, const StepSettings& step);

/// Forward pass and score of examples [first, first + rows) of a split.
void scoreRange(Ops& ops, const NetShape& net, Split split, std::size_t first, std::size_t rows);

} // namespace lockstep
