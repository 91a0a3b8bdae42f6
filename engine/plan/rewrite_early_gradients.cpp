// Weight gradients as early as they can be. The recipe passes the gradient down through all layers first: one
// barrier serves all weight gradients of a CPU. Here a layer's weight gradients follow its input gradients,
// so that dZ[l] and A[l] are needed no longer, and an exchange with other devices can begin while the layers
// below are still computed. Each of these operations reads what the ones before have written, and none reads
// what another of them writes (an update that is a part of them changes weights which were read just before);
// so even the bits stay the same.
#include <algorithm>

#include "engine/plan/rewrites.h"

namespace lockstep {

void gradientsEarly(StepPlan& plan) {
    auto& operations = plan.operations;
    for (std::size_t at = 0; at < operations.size(); ++at) {
        if (operations[at].operation != Operation::denseBackwardInputs) continue;
        const auto after = operations.begin() + static_cast<std::ptrdiff_t>(at) + 1;
        const auto gradient = std::find_if(after, operations.end(), [&](const PlannedOperation& each) {
            return each.layer == operations[at].layer &&
                   (each.operation == Operation::denseBackwardWeights ||
                    each.operation == Operation::denseBackwardWeightsAndUpdate);
        });
        if (gradient != operations.end()) std::rotate(after, gradient, gradient + 1);
    }
}

} // namespace lockstep
