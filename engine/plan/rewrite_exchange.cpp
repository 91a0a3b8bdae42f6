// Where several ranks meet. Each of them trains on its own share of the batch, and before the update every
// layer's gradients are added up over all of them. The exchange of a layer begins right behind its weight
// gradients, and the update of each layer waits for its own. One rank alone exchanges nothing, and its
// results stay what they are.
#include <optional>

#include "engine/plan/rewrites.h"

namespace lockstep {

void exchangeGradients(StepPlan& plan, bool soon) {
    StepPlan exchanged;
    std::optional<std::size_t> begun; // and not waited for yet, if that is to be soon
    const auto await = [&](std::size_t layer) {
        exchanged.operations.push_back({Operation::awaitExchange, layer});
    };
    for (PlannedOperation& each : plan.operations) {
        const std::size_t layer = each.layer;
        if (each.operation == Operation::update) {
            for (std::size_t at = layer + each.layers; at-- > layer;) {
                if (!soon || begun == at) await(at);
                exchanged.operations.push_back({Operation::update, at});
            }
            continue;
        }
        const bool complete =
            each.operation == Operation::denseBackwardWeights && each.piece + 1 == each.endPiece;
        exchanged.operations.push_back(std::move(each));
        if (!complete) continue;
        exchanged.operations.push_back({Operation::exchange, layer});
        if (soon && begun) await(*begun);
        begun = layer;
    }
    plan = std::move(exchanged);
}

} // namespace lockstep
