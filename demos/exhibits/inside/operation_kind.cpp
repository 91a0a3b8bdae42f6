#include "demos/exhibits/inside/operation_kind.h"

#include <fmt/format.h>

namespace lockstep::demos {

OperationKind kindOf(const TracedOperation& operation) {
    if (operation.name == "gather_batch") return OperationKind::gather;
    if (operation.name == "dense") return OperationKind::forward;
    if (operation.name == "dense_backward_inputs") return OperationKind::backwardInputs;
    if (operation.name == "dense_backward_weights") return OperationKind::backwardWeights;
    if (operation.name == "update") return OperationKind::update;
    return OperationKind::loss;
}

std::string titleOf(const TracedOperation& operation) {
    if (operation.source == "loss_sum") return "loss_and_gradient, its sum";
    const OperationKind kind = kindOf(operation);
    const bool ofLayer = kind == OperationKind::forward || kind == OperationKind::backwardInputs ||
                         kind == OperationKind::backwardWeights;
    return ofLayer ? fmt::format("{}, layer {}", operation.name, operation.layer) : operation.name;
}

} // namespace lockstep::demos
