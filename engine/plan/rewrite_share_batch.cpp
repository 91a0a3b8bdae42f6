// Several ranks share the batch. Each takes its pieces of it (rewrite_micro_batches.cpp), as if it had come
// to them after the ranks before it, and leaves out the others. Before the update, every layer's gradients
// are summed up over all ranks: the loss is a mean over the whole batch, so their sum is the batch's
// gradient.
//
// A layer's exchange begins as soon as its gradients are complete, and is waited for before its own update:
// it can take place while the gradients of the layers below are computed. For that, a layer's weight
// gradients come early (gradientsEarly(), before this), and each layer has an update of its own, from the
// last to the first, as the exchanges end.
//
// With shards, a rank sums up and updates only its part of each layer; afterwards, all ranks gather the parts
// of all others.
#include <utility>

#include "engine/plan/rewrites.h"

namespace lockstep {

void shareBatch(StepPlan& plan, const NetShape& net, const RankShare& share, std::size_t pieces) {
    microBatches(plan, share.ranks * pieces);
    const std::size_t first = share.rank * pieces;
    StepPlan own;
    for (PlannedOperation& each : plan.operations) {
        if (each.pieces > 1 && (each.piece < first || each.piece >= first + pieces)) continue;
        if (each.pieces > 1) {
            each.firstPiece = first;
            each.endPiece = first + pieces;
        }
        own.operations.push_back(std::move(each));
    }
    plan = std::move(own);
    exchangeGradients(plan, share.shard == 2);
    if (share.shard > 0) plan.operations.push_back({Operation::gatherParameters, 0, net.layers()});
}

} // namespace lockstep
