// How a product's kernel is set to work: items and push constants, and the buffers in the order of its
// bindings.
#pragma once

#include "engine/gpu/recorder.h"
#include "engine/net/plain_ops.h"
#include "engine/step/kernels.h"

namespace lockstep {

/// Records a product of a layer. Its buffers (shaders/<operation>_<rung>.comp says what each holds):
///   forward          inputs, weights, bias, outputs, sums (or outputs again, where none are kept)
///   backwardInputs   dSums, weights, saved, dPreviousSums
///   backwardWeights  dSums, inputs, dWeights, dBias
/// The rung `one` takes many dispatches, and submits them now and then (Recorder::submitAndGoOn), the last
/// ones excepted. With `firstPieceOnly` it records a single one, to get a pipeline compiled.
void dispatchProduct(gpu::Recorder& recorder, const DenseKernel& kernel, const DenseShape& shape,
                     std::initializer_list<gpu::BufferView> views, const gpu::Cost& cost = {},
                     bool firstPieceOnly = false);

/// What a folded update works on, all of one layer: its weights, then its bias (GpuArenas::layerOf).
struct FoldedBuffers {
    gpu::BufferView dSums;
    gpu::BufferView inputs;
    gpu::BufferView status; ///< see shaders/step/loss_ring.glsl
    gpu::BufferView parameters;
    gpu::BufferView state1; ///< the parameters again, where the optimizer keeps none
    gpu::BufferView state2; ///< likewise
};

/// Records the weights' gradients of a layer and the optimizer's step with them.
void dispatchDenseUpdate(gpu::Recorder& recorder, const Kernels::DenseUpdate& kernel, const DenseShape& shape,
                         const shared::UpdateParams& update, const FoldedBuffers& buffers,
                         const gpu::Cost& cost = {});

} // namespace lockstep
