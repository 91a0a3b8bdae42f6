// Where several devices meet. Each of them trains on its own share of the batch, and before the update every
// layer's gradients are added up over all of them. The exchange of a layer stands right behind its weight
// gradients: it can run while the gradients of other layers are computed. One device alone exchanges nothing,
// and its results stay what they are.
#include "engine/plan/rewrites.h"

namespace lockstep {

void exchangeGradients(StepPlan& plan) {
    StepPlan exchanged;
    for (PlannedOperation& each : plan.operations) {
        const bool complete =
            each.operation == Operation::denseBackwardWeights && each.piece + 1 == each.pieces;
        const std::size_t layer = each.layer;
        exchanged.operations.push_back(std::move(each));
        if (complete) exchanged.operations.push_back({Operation::exchange, layer});
    }
    plan = std::move(exchanged);
}

} // namespace lockstep
