#include "engine/plan/operation.h"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>

namespace lockstep {

namespace {

constexpr bool inOrder() {
    for (std::size_t at = 0; at < std::size(operationTable); ++at)
        if (operationTable[at].operation != static_cast<Operation>(at)) return false;
    return true;
}
static_assert(inOrder() && operationTable[std::size(operationTable) - 1].operation == Operation::lossScale);

// Parameters and the optimizer's state of a layer, before or after the update.
void addTrained(std::vector<TensorId>& ids, std::size_t layer, std::size_t states, bool updated) {
    constexpr TensorKind trained[] = {TensorKind::weights,      TensorKind::bias,
                                      TensorKind::weightState1, TensorKind::biasState1,
                                      TensorKind::weightState2, TensorKind::biasState2};
    for (const TensorKind kind : std::span(trained).first(2 + 2 * states))
        ids.push_back({kind, layer, updated});
}

bool contains(const std::vector<TensorId>& ids, const TensorId& id) {
    return std::ranges::find(ids, id) != ids.end();
}

bool isStored(const TensorId& id, NeverStored never) {
    const TensorArena arena = rowOf(id.kind).arena;
    if (never == NeverStored::gradients) return arena != TensorArena::gradients;
    if (never == NeverStored::allButParameters) return !ofBatch(arena) && arena != TensorArena::gradients;
    return true;
}

// What the first of the parts read, and what they write.
Operands joined(const NetShape& net, const OptimizerSettings& optimizer, const PlannedOperation& operation) {
    Operands all;
    std::vector<TensorId> written;
    const NeverStored never = rowOf(operation.operation).neverStored;
    for (const PlannedOperation& part : operation.parts) {
        const Operands operands = operandsOf(net, optimizer, part);
        for (const TensorId& id : operands.reads)
            if (!contains(written, id) && !contains(all.reads, id)) all.reads.push_back(id);
        for (const TensorId& id : operands.writes) {
            written.push_back(id);
            if (isStored(id, never)) all.writes.push_back(id);
        }
    }
    return all;
}

} // namespace

Operation operationFromName(std::string_view name) {
    for (const OperationRow& row : operationTable)
        if (row.name == name) return row.operation;
    throw std::invalid_argument("there is no operation '" + std::string(name) + "'");
}

double flopsOf(const NetShape& net, const OptimizerSettings& optimizer, const PlannedOperation& operation,
               std::size_t rows) {
    const auto weights = [&](std::size_t layer) {
        return static_cast<double>(net.widths[layer] * net.widths[layer + 1]);
    };
    const auto batch = static_cast<double>(rows);
    double flops = 0;
    switch (operation.operation) {
    case Operation::dense:
    case Operation::denseBackwardInputs:
    case Operation::denseBackwardWeights: flops = 2 * batch * weights(operation.layer); break;
    case Operation::lossAndGradient: flops = 5 * batch * static_cast<double>(net.outputs()); break;
    case Operation::update:
        for (std::size_t layer = operation.layer; layer < operation.layer + operation.layers; ++layer)
            flops += infoOf(optimizer.kind).operations *
                     (weights(layer) + static_cast<double>(net.widths[layer + 1]));
        break;
    case Operation::denseBackwardWeightsAndUpdate:
    case Operation::gatheredDense:
    case Operation::lastLayer:
    case Operation::weightGradients:
    case Operation::wholeStep:
        for (const PlannedOperation& part : operation.parts) flops += flopsOf(net, optimizer, part, rows);
        break;
    case Operation::gatherBatch:
    case Operation::exchange: // other processors add
    case Operation::awaitExchange:
    case Operation::gatherParameters:
    case Operation::roundActivations: // in integers
    case Operation::roundWeights:
    case Operation::roundDSums:
    case Operation::roundParameters:
    case Operation::storeActivations:
    case Operation::fetchActivations:
    case Operation::lossSum:
    case Operation::lossScale: break; // a number for each of a few workgroups or layers
    }
    return flops;
}

Operands operandsOf(const NetShape& net, const OptimizerSettings& optimizer,
                    const PlannedOperation& operation) {
    if (!operation.parts.empty()) return joined(net, optimizer, operation);
    const std::size_t layer = operation.layer;
    const std::size_t states = optimizer.stateArrays();
    const std::size_t last = net.layers() - 1;
    const TensorKind weights = operation.rounded ? TensorKind::weightCopies : TensorKind::weights;
    Operands operands;
    switch (operation.operation) {
    case Operation::gatherBatch:
        operands.writes = {{TensorKind::activations, 0}, {TensorKind::targets, 0}};
        break;
    case Operation::dense:
        operands.reads = {{TensorKind::activations, layer}, {weights, layer}, {TensorKind::bias, layer}};
        operands.writes = {{TensorKind::activations, layer + 1}};
        if (const TensorId saved = savedOf(net, layer); saved.kind == TensorKind::sums)
            operands.writes.push_back(saved);
        break;
    case Operation::lossAndGradient:
        operands.reads = {{TensorKind::activations, last + 1}, {TensorKind::targets, 0}};
        if (const TensorId saved = savedOf(net, last); saved.kind == TensorKind::sums)
            operands.reads.push_back(saved);
        operands.writes = {{TensorKind::dSums, last}};
        break;
    case Operation::denseBackwardInputs:
        operands.reads = {{TensorKind::dSums, layer}, {weights, layer}, savedOf(net, layer - 1)};
        operands.writes = {{TensorKind::dSums, layer - 1}};
        break;
    case Operation::denseBackwardWeights:
        operands.reads = {{TensorKind::dSums, layer}, {TensorKind::activations, layer}};
        operands.writes = {{TensorKind::dWeights, layer}, {TensorKind::dBias, layer}};
        if (operation.adds())
            operands.reads.insert(operands.reads.end(), operands.writes.begin(), operands.writes.end());
        break;
    case Operation::exchange:
    case Operation::awaitExchange:
        operands.reads = {{TensorKind::dWeights, layer}, {TensorKind::dBias, layer}};
        operands.writes = operands.reads;
        break;
    case Operation::roundActivations:
        operands.reads = {{TensorKind::activations, layer}};
        operands.writes = operands.reads;
        break;
    case Operation::roundWeights:
        operands.reads = {{TensorKind::weights, layer}};
        operands.writes = {{TensorKind::weightCopies, layer}};
        break;
    case Operation::roundDSums:
        operands.reads = {{TensorKind::dSums, layer}};
        operands.writes = operands.reads;
        break;
    case Operation::roundParameters:
    case Operation::gatherParameters:
        for (std::size_t each = layer; each < layer + operation.layers; ++each)
            addTrained(operands.reads, each, 0, true);
        operands.writes = operands.reads;
        break;
    case Operation::update:
        for (std::size_t each = layer; each < layer + operation.layers; ++each) {
            operands.reads.insert(operands.reads.end(),
                                  {{TensorKind::dWeights, each}, {TensorKind::dBias, each}});
            addTrained(operands.reads, each, states, false);
            addTrained(operands.writes, each, states, true);
        }
        break;
    case Operation::storeActivations:
    case Operation::fetchActivations:
        operands.reads = {{TensorKind::activations, layer}};
        operands.writes = {{TensorKind::hostActivations, layer}};
        if (layer > 0 && savedOf(net, layer - 1).kind == TensorKind::sums) {
            operands.reads.push_back({TensorKind::sums, layer - 1});
            operands.writes.push_back({TensorKind::hostSums, layer - 1});
        }
        if (operation.operation == Operation::fetchActivations) std::swap(operands.reads, operands.writes);
        break;
    case Operation::lossSum:
    case Operation::lossScale: break;
    case Operation::denseBackwardWeightsAndUpdate:
    case Operation::gatheredDense:
    case Operation::lastLayer:
    case Operation::weightGradients:
    case Operation::wholeStep:
        throw std::invalid_argument("the operation '" + std::string(name(operation.operation)) +
                                    "' stands in the place of others, and names none");
    }
    return operands;
}

} // namespace lockstep
