// One training step. Every backend runs these lines: on the CPU each thread walks through them with its own
// share of each operation; on the GPU they record the dispatches. (Kernels that fuse whole steps cannot.)
#include "engine/step/ops.h"

namespace lockstep {

void trainStep(Ops& ops, const NetShape& net, const StepSettings& step) {
    // 1. Batch: the next examples, in an order that every backend computes from the seed.
    ops.gatherBatch(step);

    // 2. Forward: layer by layer, A[l + 1] = f(A[l] W[l]^T + b[l]).
    for (std::size_t layer = 0; layer < net.layers(); ++layer) ops.dense(layer);

    // 3. Loss: how wrong the outputs are, and its gradient: in which direction each of them makes it worse.
    ops.lossAndGradient(step);

    // 4. Backward: pass the gradient down, from the last layer to the first.
    for (std::size_t layer = net.layers(); --layer > 0;) ops.denseBackwardInputs(layer);

    // 5. Gradients and update: how each weight affects the loss, and one small step downhill. Some rungs fold
    // both into one operation per layer.
    if (ops.foldsUpdate()) {
        for (std::size_t layer = net.layers(); layer-- > 0;) ops.denseBackwardWeightsAndUpdate(layer, step);
    } else {
        for (std::size_t layer = net.layers(); layer-- > 0;) ops.denseBackwardWeights(layer);
        ops.update(step);
    }
}

void scoreRange(Ops& ops, const NetShape& net, Split split, std::size_t first, std::size_t rows) {
    ops.gatherRange(split, first, rows);
    for (std::size_t layer = 0; layer < net.layers(); ++layer) ops.dense(layer);
    ops.score();
}

} // namespace lockstep
