// The last layer in one operation. A row's outputs, its loss and its dZ need no other row, so a workgroup can
// keep all of them for its rows in shared memory, from the forward product to the gradient that it passes on.
// Three operations and their barriers become one. Every sum is added in the same order; only the sum of the
// groups' losses has to be put together by whichever group ends last, in the groups' order.
#include <algorithm>
#include <stdexcept>

#include "engine/plan/rewrites.h"

namespace lockstep {

namespace {

std::vector<PlannedOperation>::const_iterator lossOf(const StepPlan& plan) {
    return std::ranges::find(plan.operations, Operation::lossAndGradient, &PlannedOperation::operation);
}

} // namespace

bool canJoinLastLayer(const StepPlan& plan) {
    const auto loss = lossOf(plan);
    if (loss == plan.operations.begin() || plan.operations.end() - loss < 2) return false;
    const PlannedOperation& before = *(loss - 1);
    const PlannedOperation& after = *(loss + 1);
    return before.operation == Operation::dense && after.operation == Operation::denseBackwardInputs &&
           before.layer == after.layer;
}

void joinLastLayer(StepPlan& plan) {
    if (!canJoinLastLayer(plan))
        throw std::logic_error("the loss of this plan does not stand between the products of the last layer");
    const auto at = plan.operations.begin() + (lossOf(plan) - plan.operations.begin());
    *at = {Operation::lastLayer, (at - 1)->layer, 1, {*(at - 1), *at, *(at + 1)}};
    plan.operations.erase(at + 1);
    plan.operations.erase(at - 1);
}

} // namespace lockstep
