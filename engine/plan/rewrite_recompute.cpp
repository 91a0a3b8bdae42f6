// Recomputing instead of keeping. The backward pass needs every layer's outputs, and the recipe keeps all of
// them from the forward pass on: their memory grows with the depth of the network. Computed once more just
// before the backward pass asks for them, they need no memory in between (TensorTable's `reuse` sees that),
// at the price of one product per layer. The product reads the same numbers, so it computes the same bits.
// Source: Chen et al. 2016, "Training deep nets with sublinear memory cost", arXiv 1604.06174.
#include <algorithm>

#include "engine/plan/rewrites.h"

namespace lockstep {

void recomputeForward(StepPlan& plan, const NetShape& net, std::size_t layer) {
    const auto loss =
        std::ranges::find(plan.operations, Operation::lossAndGradient, &PlannedOperation::operation);
    const Operands computed = operandsOf(net, {}, {Operation::dense, layer});
    const auto asks = [&](const PlannedOperation& each) {
        return std::ranges::any_of(operandsOf(net, {}, each).reads, [&](const TensorId& id) {
            return std::ranges::find(computed.writes, id) != computed.writes.end();
        });
    };
    if (loss == plan.operations.end()) return;
    const auto first = std::find_if(loss + 1, plan.operations.end(), asks);
    if (first != plan.operations.end()) plan.operations.insert(first, {Operation::dense, layer});
}

} // namespace lockstep
