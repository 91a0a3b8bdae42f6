// The operations of a training step: what each is called and is for, and which tensors it reads and writes.
// Everything that is about a step's dataflow (work, traces, the timeline, checks of edited shaders, rewrites
// of plans) reads it here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <vector>

#include "engine/net/settings.h"
#include "engine/plan/tensor.h"

namespace lockstep {

enum class Operation {
    // The recipe's (step.cpp), in its order.
    gatherBatch,
    dense,
    lossAndGradient,
    denseBackwardInputs,
    denseBackwardWeights,
    update,
    // What rewrites put in the place of several of them.
    denseBackwardWeightsAndUpdate,
    gatheredDense,
    lastLayer,
    weightGradients,
    wholeStep,
    // What rewrites add between them, for a network that several ranks train.
    exchange,
    awaitExchange,
    gatherParameters,
    // What a rewrite adds where products read another number format than operations write.
    roundActivations,
    roundWeights,
    roundDSums,
    roundParameters,
    // What a rewrite adds where a device leaves what the backward pass needs to the host's memory.
    storeActivations,
    fetchActivations,
    // Second dispatches of the loss and, in half precision, of the update.
    lossSum,
    lossScale,
};

/// What an operation in the place of several writes only to read it again itself, and never stores.
enum class NeverStored { nothing, gradients, allButParameters };

struct OperationRow {
    Operation operation = Operation::gatherBatch;
    std::string_view name; ///< of the kernel and the shader file: "dense_backward_weights"
    /// The operation under whose name it is timed and shown: one of the recipe's or, where it does the work
    /// of none or of all of them, itself.
    Operation shownAs = {};
    std::string_view formula; ///< with l for its layer; notation as in engine/step/ops.h
    std::string_view purpose; ///< in a sentence or two
    bool ofLayer = false;     ///< the recipe has one for every layer
    NeverStored neverStored = NeverStored::nothing;
};

/// In the order of Operation.
inline constexpr OperationRow operationTable[] = {
    {Operation::gatherBatch, "gather_batch", Operation::gatherBatch, "A[0], t = the batch's examples",
     "Copies this step's examples into the batch. Their order follows from the seed, so it is the same on "
     "all machines."},
    {Operation::dense, "dense", Operation::dense, "Z[l] = A[l] W[l]^T + b[l], A[l + 1] = f(Z[l])",
     "One layer's forward pass: each neuron forms the weighted sum of its inputs, adds its bias and applies "
     "the activation.",
     true},
    {Operation::lossAndGradient, "loss_and_gradient", Operation::lossAndGradient,
     "loss = L(A[last + 1], t), dZ[last] = its gradient",
     "Computes how far the predictions are from the labels, and the gradient of the loss at each output."},
    {Operation::denseBackwardInputs, "dense_backward_inputs", Operation::denseBackwardInputs,
     "dZ[l - 1] = (dZ[l] W[l]) * f'(Z[l - 1])",
     "Passes the gradient back through the weights to the layer below.", true},
    {Operation::denseBackwardWeights, "dense_backward_weights", Operation::denseBackwardWeights,
     "dW[l] = dZ[l]^T A[l], db[l] = column sums of dZ[l]",
     "The gradient of the loss with respect to the layer's weights and biases, summed over the batch.", true},
    {Operation::update, "update", Operation::update, "W, b = one optimizer step along dW, db",
     "The optimizer changes all weights and biases by one step."},
    {Operation::denseBackwardWeightsAndUpdate, "dense_backward_weights_update",
     Operation::denseBackwardWeights, "W[l], b[l] = one optimizer step along dZ[l]^T A[l]",
     "The gradient of the layer's weights and biases, and the optimizer's step with it.", true,
     NeverStored::gradients},
    {Operation::gatheredDense, "gathered_dense", Operation::dense,
     "A[1] = f(the batch's examples W[0]^T + b[0])", "The batch, and the first layer's forward pass."},
    {Operation::lastLayer, "last_layer", Operation::lossAndGradient,
     "loss = L(f(A[last] W[last]^T + b[last]), t), dZ[last - 1] = its gradient",
     "The last layer's forward pass, the loss, and the gradient passed on to the layer below."},
    {Operation::weightGradients, "weight_gradients", Operation::denseBackwardWeights,
     "W, b = one optimizer step along all dZ[l]^T A[l]",
     "The gradients of all weights and biases, and the optimizer's step with them.", false,
     NeverStored::gradients},
    {Operation::wholeStep, "whole_step", Operation::wholeStep, "W, b = those after the step",
     "Batch, forward, loss, backward and update of the whole network in one kernel, for many steps at a "
     "time. Between them, nothing leaves shared memory.",
     false, NeverStored::allButParameters},
    {Operation::exchange, "exchange", Operation::exchange, "dW[l], db[l] = their sums over all ranks",
     "Begins to add up the layer's gradients of all ranks that train together. One rank alone has nothing to "
     "add.",
     true},
    {Operation::awaitExchange, "await_exchange", Operation::awaitExchange,
     "dW[l], db[l] = their sums over all ranks", "Waits until the layer's exchange is over.", true},
    {Operation::gatherParameters, "gather_parameters", Operation::gatherParameters,
     "W, b = every rank's part of them",
     "Collects the parameters that other ranks have updated, where each updates a part of them only."},
    {Operation::roundActivations, "round_activations", Operation::dense,
     "A[l] = the nearest numbers of a format",
     "Rounds a layer's inputs in place, to the number format in which products are to read them.", true},
    {Operation::roundWeights, "round_weights", Operation::dense,
     "W rounded[l] = the nearest numbers of a format to W[l]",
     "Copies a layer's weights, rounded to the number format in which products are to read them. The "
     "optimizer changes the weights themselves.",
     true},
    {Operation::roundDSums, "round_d_sums", Operation::denseBackwardInputs,
     "dZ[l] = the nearest numbers of a format",
     "Rounds the gradients of a layer's sums in place, to the number format in which products are to read "
     "them.",
     true},
    {Operation::roundParameters, "round_parameters", Operation::update,
     "W, b = numbers of a format near to W, b",
     "Rounds the updated weights and biases in place, to the number format in which they are stored: to the "
     "nearest number, or to one of the two neighbours by chance."},
    {Operation::storeActivations, "store_activations", Operation::storeActivations,
     "A on the host[l] = A[l], Z on the host[l - 1] = Z[l - 1]",
     "Copies what the backward pass needs of a layer's inputs to the host's memory. Other layers take its "
     "place in the device's memory meanwhile.",
     true},
    {Operation::fetchActivations, "fetch_activations", Operation::fetchActivations,
     "A[l] = A on the host[l], Z[l - 1] = Z on the host[l - 1]",
     "Copies a layer's inputs back from the host's memory, for the backward pass.", true},
    {Operation::lossSum, "loss_sum", Operation::lossAndGradient, "loss = sum of the groups' sums",
     "Adds up the losses of groups of rows."},
    {Operation::lossScale, "loss_scale", Operation::update,
     "if any db is not finite: scale /= 2, and no update",
     "Looks whether gradients have overflowed in half precision, and sets the scale of the next loss."},
};

constexpr const OperationRow& rowOf(Operation operation) {
    return operationTable[static_cast<std::size_t>(operation)];
}
constexpr std::string_view name(Operation operation) { return rowOf(operation).name; }

/// The operations of the recipe, in its order.
inline constexpr Operation recipeOperations[] = {
    Operation::gatherBatch,          Operation::dense,
    Operation::lossAndGradient,      Operation::denseBackwardInputs,
    Operation::denseBackwardWeights, Operation::update};

/// The operation with this name. Throws std::invalid_argument.
Operation operationFromName(std::string_view name);

/// An operation of a plan (plan.h).
struct PlannedOperation {
    Operation operation = Operation::gatherBatch;
    std::size_t layer = 0;  ///< the first that it is about
    std::size_t layers = 1; ///< how many: an update is about several
    /// What it carries out, in order, where it stands in the place of several.
    std::vector<PlannedOperation> parts = {};
    /// Which piece of the batch it is about, where the batch is taken in `pieces` (microBatches()). Weight
    /// gradients of later pieces are added to those of the ones before.
    std::size_t piece = 0;
    std::size_t pieces = 1;
    /// Those of the pieces that this device takes, [first, end); the others are other ranks' (shareBatch()).
    std::size_t firstPiece = 0;
    std::size_t endPiece = 1;
    bool rounded = false; ///< it reads copies of the weights (roundOperands())

    /// Weight gradients are added to those of a piece before.
    bool adds() const { return piece > firstPiece; }

    bool operator==(const PlannedOperation&) const = default;
};

/// In how many pieces a batch of so many rows is taken: none is empty.
inline std::size_t piecesOf(const PlannedOperation& operation, std::size_t rows) {
    return std::min(operation.pieces, std::max<std::size_t>(rows, 1));
}
/// Those of them that this device takes; none, where a batch has fewer rows than pieces.
inline std::size_t ownPiecesOf(const PlannedOperation& operation, std::size_t rows) {
    const std::size_t end = std::min(operation.endPiece, piecesOf(operation, rows));
    return end - std::min(operation.firstPiece, end);
}

struct Operands {
    std::vector<TensorId> reads;
    std::vector<TensorId> writes;
};

/// Floating-point operations for so many rows: per weight and row a multiplication and an addition in each
/// product of a layer (forward, input gradient, weight gradient); about five per output in the loss
/// (exponential, sum, division, difference, scale); in the update those of the formulas in plain::update.
double flopsOf(const NetShape& net, const OptimizerSettings& optimizer, const PlannedOperation& operation,
               std::size_t rows);

/// The tensors of the step that an operation reads from memory and writes to it, each once. Examples of the
/// data set, the loss and its scale are none.
Operands operandsOf(const NetShape& net, const OptimizerSettings& optimizer,
                    const PlannedOperation& operation);

} // namespace lockstep
