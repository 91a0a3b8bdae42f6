// One training step: the recipe. It is written into a plan (plan.h), which every backend carries out: on the
// CPU each thread walks through it with its own share of each operation; on the GPU its dispatches are
// recorded. What a rung does differently is a rewrite of the plan (rewrites.h).
#include "engine/plan/plan.h"

namespace lockstep {

StepPlan trainStep(const NetShape& net) {
    StepPlan step;
    // 1. Batch: the next examples, in an order that every backend computes from the seed.
    step.gatherBatch();

    // 2. Forward: layer by layer, A[l + 1] = f(A[l] W[l]^T + b[l]).
    for (std::size_t layer = 0; layer < net.layers(); ++layer) step.dense(layer);

    // 3. Loss: how wrong the outputs are, and its gradient: in which direction each of them makes it worse.
    step.lossAndGradient();

    // 4. Backward: pass the gradient down, from the last layer to the first, and see how each weight affects
    // the loss.
    for (std::size_t layer = net.layers(); --layer > 0;) step.denseBackwardInputs(layer);
    for (std::size_t layer = net.layers(); layer-- > 0;) step.denseBackwardWeights(layer);

    // 5. Update: one small step downhill.
    step.update(net.layers());
    return step;
}

StepPlan forwardPass(const NetShape& net) {
    StepPlan pass;
    pass.gatherBatch();
    for (std::size_t layer = 0; layer < net.layers(); ++layer) pass.dense(layer);
    return pass;
}

} // namespace lockstep
