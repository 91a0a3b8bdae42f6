// Frozen layers. They compute as before, and their weights stay: no weight gradients, no update. Below the
// lowest layer that trains, nothing asks for the gradient, so it is not passed down either. The layers that
// train see the same numbers as in a step that leaves the frozen ones' weights as they are, bit for bit.
#include <algorithm>
#include <stdexcept>

#include "engine/plan/rewrites.h"

namespace lockstep {

void freeze(StepPlan& plan, std::span<const std::size_t> layers) {
    const auto frozen = [layers](std::size_t layer) {
        return std::ranges::find(layers, layer) != layers.end();
    };
    StepPlan kept;
    std::size_t lowest = static_cast<std::size_t>(-1); // that trains
    for (const PlannedOperation& each : plan.operations)
        if (each.operation == Operation::denseBackwardWeights && !frozen(each.layer))
            lowest = std::min(lowest, each.layer);
    if (lowest == static_cast<std::size_t>(-1)) throw std::invalid_argument("no layer is left to train");
    for (const PlannedOperation& each : plan.operations) {
        switch (each.operation) {
        case Operation::denseBackwardWeights:
        case Operation::exchange:
        case Operation::awaitExchange:
            if (!frozen(each.layer)) kept.operations.push_back(each);
            break;
        case Operation::denseBackwardInputs:
            if (each.layer > lowest) kept.operations.push_back(each);
            break;
        case Operation::update: // of every run of layers that train
            for (std::size_t layer = each.layer; layer < each.layer + each.layers; ++layer) {
                if (frozen(layer)) continue;
                if (layer > each.layer && !frozen(layer - 1))
                    ++kept.operations.back().layers;
                else
                    kept.operations.push_back({Operation::update, layer});
            }
            break;
        default: kept.operations.push_back(each); // about no weights, or joined: as they are
        }
    }
    plan = std::move(kept);
}

} // namespace lockstep
