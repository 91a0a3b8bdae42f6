// All weight gradients in one operation. Once every dZ is known, the gradients of one layer need nothing of
// another's, so their workgroups can be numbered through and run side by side: the small last layers fill the
// gaps that the large first one leaves. Each sum is added as before.
#include <algorithm>
#include <stdexcept>

#include "engine/plan/rewrites.h"

namespace lockstep {

namespace {

auto isFolded = [](const PlannedOperation& each) {
    return each.operation == Operation::denseBackwardWeightsAndUpdate;
};

} // namespace

bool canJoinWeightGradients(const StepPlan& plan) {
    const auto& operations = plan.operations;
    const auto first = std::ranges::find_if(operations, isFolded);
    return operations.end() - first > 1 && std::all_of(first, operations.end(), isFolded);
}

void joinWeightGradients(StepPlan& plan) {
    if (!canJoinWeightGradients(plan))
        throw std::logic_error("the weight gradients of this plan cannot become one operation");
    const auto first = std::ranges::find_if(plan.operations, isFolded);
    PlannedOperation joined{Operation::weightGradients, 0,
                            static_cast<std::size_t>(plan.operations.end() - first)};
    for (auto each = first; each != plan.operations.end(); ++each)
        joined.parts.insert(joined.parts.end(), each->parts.begin(), each->parts.end());
    plan.operations.erase(first, plan.operations.end());
    plan.operations.push_back(std::move(joined));
}

} // namespace lockstep
