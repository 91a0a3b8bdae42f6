#include "demos/exhibits/inside/operation_kind.h"

#include <fmt/format.h>

namespace lockstep::demos {

std::string titleOf(const TracedOperation& operation, std::size_t layers) {
    const OperationKind kind = kindOf(operation);
    const char* label = labelOf(kind);
    if (operation.source == "loss_sum") return fmt::format("{}, its sum", label);
    if (operation.source == "loss_scale") return "scale of the loss";
    const bool ofLayer = kind == OperationKind::forward || kind == OperationKind::backwardInputs ||
                         kind == OperationKind::backwardWeights;
    return ofLayer ? fmt::format("{}, layer {} of {}", label, operation.layer + 1, layers) : label;
}

} // namespace lockstep::demos
