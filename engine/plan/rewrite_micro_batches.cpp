// A batch in pieces. What a step keeps of each example (A, Z, dZ) is kept for one piece at a time; the weight
// gradients of the pieces are added up, and the update follows once. The loss and its gradient are means over
// the whole batch, so each piece's terms are divided by the number of all of them, and the sum of the pieces'
// gradients is the batch's. It is added in another order: results agree up to rounding.
#include <stdexcept>

#include "engine/plan/rewrites.h"

namespace lockstep {

void microBatches(StepPlan& plan, std::size_t pieces) {
    if (pieces == 0) throw std::invalid_argument("a batch has one piece at least");
    if (!plan.has(Operation::denseBackwardWeights))
        throw std::invalid_argument("the plan stores no gradients that could be added up");
    StepPlan whole;
    const auto ofAll = [](const PlannedOperation& each) { // once per step, when all gradients are there
        return each.operation == Operation::update || each.operation == Operation::exchange ||
               each.operation == Operation::awaitExchange;
    };
    for (std::size_t piece = 0; piece < pieces; ++piece)
        for (PlannedOperation each : plan.operations) {
            if (ofAll(each)) continue;
            each.piece = piece;
            each.pieces = each.endPiece = pieces;
            whole.operations.push_back(std::move(each));
        }
    for (const PlannedOperation& each : plan.operations)
        if (ofAll(each)) whole.operations.push_back(each);
    plan = std::move(whole);
}

} // namespace lockstep
