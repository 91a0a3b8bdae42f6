// One training step. The same lines run on the processor, where every thread walks through them on its own
// rows, and on the graphics card, where they record the dispatches that thousands of invocations will walk
// through.
#include "engine/step/step.h"

namespace lockstep {

void trainStep(Ops& ops, const NetShape& net, const StepSettings& step) {
    // 1. Batch: the next examples, in an order that both machines compute from the seed.
    ops.gatherBatch(step);

    // 2. Forward: layer by layer, A[l + 1] = f(A[l] W[l]^T + b[l]).
    for (std::size_t layer = 0; layer < net.layers(); ++layer) ops.dense(layer);

    // 3. Loss: how wrong the outputs are, and which way each should move.
    ops.lossAndGradient(step);

    // 4. Backward: from the last layer to the first, the blame passed to the layer below and to the weights.
    for (std::size_t layer = net.layers(); layer-- > 0;) ops.denseBackward(layer);

    // 5. Update: all parameters one small step downhill.
    ops.exchange();
    ops.update(step);
}

void scoreRange(Ops& ops, const NetShape& net, Split split, std::size_t first, std::size_t rows) {
    ops.gatherRange(split, first, rows);
    for (std::size_t layer = 0; layer < net.layers(); ++layer) ops.dense(layer);
    ops.score();
}

} // namespace lockstep
