// The remedies of a run that needs less memory, as rewrites of its plan.
//
// Recomputing in segments: of K layers in a row, the outputs of the last one are kept, and the backward pass
// computes the others again from those below. Between two kept layers, a segment's outputs live only while
// its own backward pass takes place. The layers above the last kept one are not computed again: the backward
// pass begins with them, so their memory would not be free in between.
#include "engine/plan/rewrites.h"

namespace lockstep {

void saveMemory(StepPlan& plan, const NetShape& net, const MemorySettings& memory, const RankShare& share) {
    // Or every layer's outputs would be needed to the end, and its gradients would be exchanged late.
    if (memory.shareMemory() || !share.alone()) gradientsEarly(plan);
    if (memory.recompute > 1) {
        const std::size_t lastKept = (net.layers() - 1) / memory.recompute * memory.recompute;
        for (std::size_t level = lastKept; level-- > 1;)
            if (level % memory.recompute != 0) recomputeForward(plan, net, level - 1);
    }
    if (includes(memory.offload, Offload::activations)) offloadActivations(plan, net);
    if (!share.alone())
        shareBatch(plan, net, share, memory.accumulate);
    else if (memory.accumulate > 1)
        microBatches(plan, memory.accumulate);
}

} // namespace lockstep
