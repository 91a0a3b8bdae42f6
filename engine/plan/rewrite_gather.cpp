// Gathering the batch in the first product. The first layer's workgroups read their rows straight from the
// data set, in the order that the seed gives, and store them for the weight gradients, which need A[0] later.
// One dispatch and one barrier fewer. The sums are the same, in the same order.
#include <stdexcept>

#include "engine/plan/rewrites.h"

namespace lockstep {

bool canJoinGather(const StepPlan& plan) {
    return plan.operations.size() > 1 && plan.operations[0].operation == Operation::gatherBatch &&
           plan.operations[1].operation == Operation::dense && plan.operations[1].layer == 0;
}

void joinGather(StepPlan& plan) {
    if (!canJoinGather(plan))
        throw std::logic_error("this plan does not begin with a batch and its first product");
    plan.operations[1] = {Operation::gatheredDense, 0, 1, {plan.operations[0], plan.operations[1]}};
    plan.operations.erase(plan.operations.begin());
}

} // namespace lockstep
