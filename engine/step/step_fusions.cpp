#include "engine/step/step_fusions.h"

#include <algorithm>
#include <stdexcept>

#include "engine/plan/rewrites.h"
#include "engine/step/gpu_ops.h"

namespace lockstep {

namespace {

using gpu::asUint;

// The kernel, if it is of the only rung that can be fused so; else one that adds in the same order: of a
// pipelined kernel the tiled one with the same tiles and slices, of others a likely one, for their
// invocations share no sums.
ProductKernel tiledLike(ProductKernel kernel) {
    constexpr std::uint32_t slab = 16;
    if (kernel.rung == Rung::tiled && !kernel.half) return kernel;
    if (kernel.rung != Rung::pipelined) return {Rung::tiled, 8, 8, 4, 4, slab};
    kernel.rung = Rung::tiled;
    kernel.slabK = slab;
    return kernel;
}

std::uint32_t divideUp(std::size_t value, std::uint32_t by) { return asUint((value + by - 1) / by); }

} // namespace

StepFusions::StepFusions(Kernels& kernels, GpuArenas& arenas, const TrainSettings& settings,
                         const StepKernels& how)
    : kernels_(kernels), arenas_(arenas), optimizer_(settings.optimizer.kind),
      forward_(tiledLike(how.layers.front().forward)),
      weights_(tiledLike(how.layers.front().backwardWeights)), apart_(how.plan(arenas.shape, settings)),
      plan_(apart_) {
    const gpu::Limits& limits = kernels.device().limits();
    const NetShape& shape = arenas.shape;
    const auto allows = [&](std::uint32_t buffers, std::uint32_t invocations, std::uint64_t shared) {
        return limits.storageBuffers >= buffers &&
               (limits.pushDescriptors == 0 || limits.pushDescriptors >= buffers) &&
               limits.groupInvocations >= invocations && limits.groupSize[0] >= invocations &&
               limits.sharedMemory >= shared;
    };
    if (how.half || !kernels.replacedShaders().empty()) return; // edited shaders are to be seen at work
    if (settings.changeSteps()) return;      // what is joined wants its tensors, and the whole batch, at once
    if (settings.precision.rounds()) return; // between operations

    // A workgroup holds its rows' inputs and outputs, and one invocation goes over a row's outputs.
    constexpr std::size_t mostOutputs = 64;
    const std::size_t last = shape.layers() - 1;
    const std::size_t floats =
        shared::lastLayerRows * (roundUpToFour(shape.widths[last]) + 4 * roundUpToFour(shape.outputs()) + 1);
    possible_[indexOf(Operation::lastLayer)] =
        canJoinLastLayer(apart_) && shape.outputs() <= mostOutputs && how.layers[last].forward.slices == 1 &&
        how.layers[last].backwardInputs.slices == 1 && // sums in one piece
        allows(12, Kernels::rowsPerGroup,
               4 * (floats + 2 * shared::lastLayerRows + Kernels::rowsPerGroup + 1));

    // Where an invocation shares sums, they are added in another order.
    const bool splits = std::ranges::any_of(
        how.layers, [](const LayerKernels& layer) { return layer.backwardWeights.slices > 1; });
    placeLayers();
    possible_[indexOf(Operation::weightGradients)] =
        canJoinWeightGradients(apart_) && !splits && groups_ <= limits.groupCount[0] &&
        arenas.allActivations().size <= limits.storageRange &&
        arenas.allDSums().size <= limits.storageRange &&
        allows(7, weights_.invocations(), weights_.sharedBytes());

    const gpu::WorkItems block = forward_.outputsPerGroup();
    possible_[indexOf(Operation::gatheredDense)] =
        canJoinGather(apart_) && !how.inPieces() &&
        allows(8, forward_.invocations(), forward_.sharedBytes() + 4 * block.y);
}

void StepFusions::set(Operation joined, bool on) {
    if (on && !possible(joined))
        throw std::logic_error("'" + std::string(name(joined)) + "' is not possible here");
    on_.at(indexOf(joined)) = on;
    plan_ = apart_;
    if (on_[indexOf(Operation::gatheredDense)]) joinGather(plan_);
    if (on_[indexOf(Operation::lastLayer)]) joinLastLayer(plan_);
    if (on_[indexOf(Operation::weightGradients)]) joinWeightGradients(plan_);
}

// Workgroups are numbered layer by layer.
void StepFusions::placeLayers() {
    std::vector<shared::WeightGradientsLayer> places;
    const gpu::WorkItems block = weights_.outputsPerGroup();
    for (std::size_t layer = 0; layer < arenas_.shape.layers(); ++layer) {
        const DenseShape dense = denseShapeOf(arenas_.shape, layer, arenas_.order.batch());
        const std::uint32_t groupsN = divideUp(dense.inputStride, block.x);
        places.push_back(
            {.inputs = asUint(dense.inputs),
             .outputs = asUint(dense.outputs),
             .inputStride = asUint(dense.inputStride),
             .outputStride = asUint(dense.outputStride),
             .firstInput = asUint(tensor({TensorKind::activations, layer}, 1).offset / sizeof(float)),
             .firstDSum = asUint(tensor({TensorKind::dSums, layer}, 1).offset / sizeof(float)),
             .firstParameter = asUint(arenas_.layout.layer(layer).weightOffset),
             .firstGroup = groups_,
             .groupsN = groupsN});
        groups_ += groupsN * divideUp(dense.outputs, block.y);
    }
    arenas_.layerPlaces.uploadValues<shared::WeightGradientsLayer>(places);
}

void StepFusions::gatheredDense(gpu::Recorder& recorder, const StepSettings& step,
                                const gpu::Cost& cost) const {
    const std::size_t rows = step.batch.rows;
    const DenseShape dense = denseShapeOf(arenas_.shape, 0, rows);
    const shared::GatheredDenseParams params{gatherParams(arenas_, step), denseParams(dense)};
    recorder.dispatch(kernels_.gatheredDense(forward_, arenas_.pixels, arenas_.shape.activationOf(0)),
                      {params.dense.outputStride, params.dense.rows, 1}, params,
                      {arenas_.train.source.view(), arenas_.train.answers.view(), arenas_.weights(0),
                       arenas_.bias(0), tensor({TensorKind::activations, 1}, rows), saved(0, rows),
                       tensor({TensorKind::activations, 0}, rows),
                       arenas_.targets.view(0, rows * arenas_.targetWidth * sizeof(std::uint32_t))},
                      cost);
}

void StepFusions::lastLayer(gpu::Recorder& recorder, const StepSettings& step, const gpu::Cost& cost) const {
    const std::size_t rows = step.batch.rows;
    const std::size_t last = arenas_.shape.layers() - 1;
    shared::LossParams params = lossParams(arenas_, step);
    params.groups = lastLayerGroups(rows);
    recorder.dispatch(kernels_.lastLayer(arenas_.shape), {params.groups, 1, 1}, params,
                      {arenas_.losses.view(), arenas_.status.view(),
                       tensor({TensorKind::activations, last}, rows), arenas_.weights(last),
                       arenas_.bias(last), arenas_.targets.view(), saved(last - 1, rows),
                       tensor({TensorKind::activations, last + 1}, rows), saved(last, rows),
                       tensor({TensorKind::dSums, last}, rows), tensor({TensorKind::dSums, last - 1}, rows),
                       arenas_.lastLayerPartials.view()},
                      cost);
}

void StepFusions::weightGradients(gpu::Recorder& recorder, const StepSettings& step,
                                  const gpu::Cost& cost) const {
    const shared::WeightGradientsParams params{asUint(step.batch.rows), asUint(arenas_.shape.layers()),
                                               step.update};
    recorder.dispatch(kernels_.weightGradients(weights_, optimizer_), {groups_, 1, 1}, params,
                      {arenas_.allDSums(), arenas_.allActivations(), arenas_.status.view(),
                       arenas_.parameters.view(), arenas_.state(0).view(), arenas_.state(1).view(),
                       arenas_.layerPlaces.view()},
                      cost);
}

} // namespace lockstep
