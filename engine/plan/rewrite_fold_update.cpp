// Folding the update. The recipe stores the gradients of all weights, then reads them again to change the
// weights. Where the kernel that computes a layer's gradients changes its weights at once, they never reach
// memory, and a step has one operation fewer.
//
// Results stay what they are: the gradients are the same sums, and each weight's update needs its own
// gradient only. Earlier in the step it would be wrong: denseBackwardInputs() still has to read W[l]. The
// recipe has all of these before the first weight gradient. On a GPU even the bits stay the same. CPU kernels
// add the scaled gradient to the weights as they multiply, which rounds differently.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "engine/plan/rewrites.h"

namespace lockstep {

namespace {

auto isWeightGradient = [](const PlannedOperation& each) {
    return each.operation == Operation::denseBackwardWeights;
};

} // namespace

bool canFoldUpdate(const StepPlan& plan) {
    const auto& operations = plan.operations;
    if (operations.empty() || operations.back().operation != Operation::update) return false;
    const auto update = operations.end() - 1;
    const auto first = std::find_if(operations.begin(), update, isWeightGradient);
    return std::all_of(first, update, isWeightGradient) &&
           static_cast<std::size_t>(update - first) == operations.back().layers;
}

void foldUpdate(StepPlan& plan) {
    if (!canFoldUpdate(plan)) {
        const auto first = std::ranges::find_if(plan.operations, isWeightGradient);
        const auto between = std::find_if(first, plan.operations.end(), [](const PlannedOperation& each) {
            return !isWeightGradient(each) && each.operation != Operation::update;
        });
        throw std::logic_error("the update of this plan cannot be folded into its weight gradients" +
                               (between == plan.operations.end()
                                    ? ""
                                    : ": '" + std::string(name(between->operation)) + "' comes between"));
    }
    plan.operations.pop_back();
    for (PlannedOperation& each : plan.operations) {
        if (!isWeightGradient(each)) continue;
        const std::size_t layer = each.layer;
        each = {Operation::denseBackwardWeightsAndUpdate,
                layer,
                1,
                {{Operation::denseBackwardWeights, layer}, {Operation::update, layer}}};
    }
}

} // namespace lockstep
