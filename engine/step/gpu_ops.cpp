// Notation as in ops.h; in names, A is `activations`, Z is `sums` and dZ is `dSums`. Every operation hands
// the recorder its kernel, the items it covers (one per invocation or per output), its push constants, and
// its buffers in the order of the shader's bindings. The recorder adds the barriers.
//
// Start at dense(): product() adds the layer's sizes, and dispatchProduct() (dense_kernel.cpp) launches the
// shader. The constructor, at the end, looks up the kernels. `half_` is for the fp16 rungs and null
// elsewhere.
#include "engine/step/gpu_ops.h"

#include <algorithm>

#include "engine/step/dense_kernel.h"
#include "engine/step/work.h"

namespace lockstep {

namespace {

using gpu::asUint;

std::uint32_t groupsOf(std::size_t rows) {
    return asUint((rows + Kernels::rowsPerGroup - 1) / Kernels::rowsPerGroup);
}

// The layer is the tag by which a traced dispatch is recognised.
gpu::Cost cost(const Work& work, std::size_t layer = 0) { return {work.flops, work.bytes, layer, false}; }

} // namespace

shared::GatherBatchParams gatherParams(const GpuArenas& arenas, const StepSettings& step) {
    return {asUint(step.batch.rows),    asUint(step.batch.first),
            asUint(arenas.train.count), arenas.order.shuffles() ? 1u : 0u,
            arenas.stride(0),           arenas.train.sourceStride,
            arenas.targetWidth,         arenas.order.keys(step.batch.epoch)};
}

shared::LossParams lossParams(const GpuArenas& arenas, const StepSettings& step) {
    const std::size_t outputs = arenas.shape.outputs();
    const auto stepNumber = static_cast<std::uint32_t>(step.step);
    return {.rows = asUint(step.batch.rows),
            .outputs = asUint(outputs),
            .stride = arenas.stride(arenas.shape.layers()),
            .targetWidth = arenas.targetWidth,
            .step = stepNumber,
            .slot = stepNumber % GpuArenas::ringSlots,
            .targetKind = arenas.targetKind,
            .groups = groupsOf(step.batch.rows),
            .scale = static_cast<float>(
                1.0 / static_cast<double>(lossTerms(arenas.shape.loss, step.batch.rows, outputs)))};
}

void GpuOps::gather(const GpuExamples& examples, const shared::GatherBatchParams& params) {
    const std::size_t rows = rows_ = params.rows;
    recorder_.dispatch(gatherBatch_, {examples.sourceStride / 4, asUint(rows), 1}, params,
                       {examples.source.view(), examples.answers.view(), activations(0),
                        arenas_.targets.view(0, rows * arenas_.targetWidth * sizeof(std::uint32_t))},
                       cost(gatherWork(rows, arenas_.shape.inputs(), arenas_.pixels, half_ != nullptr)));
    endOperation();
}

void GpuOps::gatherBatch(const StepSettings& step) {
    training_ = true;
    step_ = step;
    rows_ = step.batch.rows;
    if (!fused(Fusion::gather)) gather(arenas_.train, gatherParams(arenas_, step));
}

void GpuOps::gatherRange(Split split, std::size_t first, std::size_t rows) {
    training_ = false;
    const GpuExamples& examples = arenas_.examples(split);
    gather(examples, {asUint(rows),
                      asUint(first),
                      asUint(examples.count),
                      0,
                      arenas_.stride(0),
                      examples.sourceStride,
                      arenas_.targetWidth,
                      {}});
}

void GpuOps::product(const DenseKernel& kernel, std::size_t layer,
                     std::initializer_list<gpu::BufferView> views) {
    const DenseShape shape = denseShapeOf(arenas_.shape, layer, rows_);
    const Work work = half_ != nullptr ? halfDenseWork(shape, kernel.product == Product::backwardWeights)
                                       : denseWork(shape);
    dispatchProduct(recorder_, kernel, shape, views, cost(work, layer), firstPiecesOnly_);
    endOperation();
}

void GpuOps::dense(std::size_t layer) {
    const bool isLast = layer + 1 == arenas_.shape.layers();
    if (isLast && fused(Fusion::lastLayer)) return; // lossAndGradient() does it
    if (layer == 0 && fused(Fusion::gather)) {
        const Work batch = gatherWork(rows_, arenas_.shape.inputs(), arenas_.pixels);
        const Work product = denseWork(denseShapeOf(arenas_.shape, 0, rows_));
        fusions_->gatheredDense(recorder_, step_, cost(batch + product));
        return endOperation();
    }
    product(layers_[layer].forward, layer,
            {activations(layer), weights(layer), arenas_.bias(layer), activations(layer + 1), sums(layer)});
}

void GpuOps::lossAndGradient(const StepSettings& step) {
    const std::size_t last = arenas_.shape.layers() - 1;
    if (fused(Fusion::lastLayer)) {
        fusions_->lastLayer(recorder_, step, cost(lastLayerWork(), last));
        return endOperation();
    }
    const shared::LossParams params = lossParams(arenas_, step);
    const std::uint32_t groups = params.groups;
    const gpu::BufferView partials = arenas_.lossPartials.view();
    // Only fp16 scales the loss; without it, the binding needs some other buffer.
    const gpu::BufferView scale = half_ != nullptr ? half_->lossScale() : arenas_.status.view();
    recorder_.dispatch(lossAndGradient_, {asUint(rows_), 1, 1}, params,
                       {arenas_.losses.view(), arenas_.status.view(), activations(last + 1), sums(last),
                        arenas_.targets.view(), dSums(last), partials, scale},
                       cost(lossWork(rows_, arenas_.shape.outputs(), half_ != nullptr)));
    if (groups > 1)
        recorder_.dispatch(lossSum_, {1, 1, 1},
                           shared::LossSumParams{groups, params.step, params.slot, params.scale},
                           {arenas_.losses.view(), arenas_.status.view(), partials},
                           {static_cast<double>(groups), static_cast<double>(groups) * sizeof(float)});
    endOperation();
}

void GpuOps::denseBackwardInputs(std::size_t layer) {
    if (layer + 1 == arenas_.shape.layers() && fused(Fusion::lastLayer)) return; // done
    product(layers_[layer].backwardInputs, layer,
            {dSums(layer), weights(layer), sums(layer - 1), dSums(layer - 1)});
}

void GpuOps::denseBackwardWeights(std::size_t layer) {
    product(layers_[layer].backwardWeights, layer,
            {dSums(layer), activations(layer), arenas_.dWeights(layer), arenas_.dBias(layer)});
}

// Layers come from the last to the first: only then all gradients of sums are known.
void GpuOps::denseBackwardWeightsAndUpdate(std::size_t layer, const StepSettings& step) {
    if (fused(Fusion::weightGradients)) {
        if (layer > 0) return;
        Work work;
        for (std::size_t each = 0; each < arenas_.shape.layers(); ++each)
            work = work + denseWork(denseShapeOf(arenas_.shape, each, rows_));
        fusions_->weightGradients(recorder_, step, cost(work));
        return endOperation();
    }
    const DenseShape shape = denseShapeOf(arenas_.shape, layer, rows_);
    const FoldedBuffers buffers{arenas_.dSums(layer, rows_),
                                arenas_.activations(layer, rows_),
                                arenas_.status.view(),
                                arenas_.layerOf(arenas_.parameters, layer),
                                arenas_.layerOf(arenas_.state(0), layer),
                                arenas_.layerOf(arenas_.state(1), layer)};
    dispatchDenseUpdate(recorder_, *layers_[layer].denseUpdate, shape, step.update, buffers,
                        cost(denseWork(shape), layer));
    endOperation();
}

Work GpuOps::lastLayerWork() const {
    const Work product = denseWork(denseShapeOf(arenas_.shape, arenas_.shape.layers() - 1, rows_));
    return product + product + lossWork(rows_, arenas_.shape.outputs());
}

void GpuOps::update(const StepSettings& step) {
    shared::UpdateParams params = step.update;
    params.count = asUint(arenas_.layout.size());
    params.stride = std::min((params.count / 4 + 63) / 64 * 64, updateLimit_); // whole workgroups
    if (half_ != nullptr) return updateWithHalves(params);
    recorder_.dispatch(*update_, {params.stride, 1, 1}, params,
                       {arenas_.status.view(), arenas_.gradients.view(), arenas_.parameters.view(),
                        arenas_.state(0).view(), arenas_.state(1).view()},
                       cost(updateWork(arenas_.shape, optimizer_)));
    endOperation();
}

void GpuOps::updateWithHalves(const shared::UpdateParams& params) {
    const auto layers = asUint(arenas_.shape.layers());
    recorder_.dispatch(*lossScale_, {1, 1, 1}, shared::LossScaleParams{layers},
                       {arenas_.status.view(), arenas_.gradients.view(), half_->lossScale(), half_->table()});
    recorder_.dispatch(*updateHalf_, {params.stride, 1, 1}, shared::UpdateHalfParams{params, layers},
                       {arenas_.status.view(), arenas_.gradients.view(), arenas_.parameters.view(),
                        arenas_.state(0).view(), arenas_.state(1).view(), half_->lossScale(), half_->table(),
                        half_->allWeights()},
                       cost(updateWork(arenas_.shape, optimizer_, true)));
    endOperation();
}

void GpuOps::beginEvaluation() {
    recorder_.fill(arenas_.scoreCounts.view(), 0);
    scoreSlot_ = 0;
}

void GpuOps::score() {
    const std::size_t last = arenas_.shape.layers() - 1;
    const shared::ScoreParams params{
        asUint(rows_),       asUint(arenas_.shape.outputs()), arenas_.stride(last + 1),
        arenas_.targetWidth, asUint(arenas_.classes),         arenas_.targetKind,
        scoreSlot_};
    recorder_.dispatch(score_, {asUint(rows_), 1, 1}, params,
                       {arenas_.activations(last + 1, rows_), arenas_.targets.view(),
                        arenas_.scoreSums.view(), arenas_.scoreCounts.view()});
    scoreSlot_ += groupsOf(rows_);
    endOperation();
}

GpuOps::GpuOps(gpu::Recorder& recorder, GpuArenas& arenas, Kernels& kernels, const TrainSettings& settings,
               const StepKernels& how, const HalfArenas* half)
    : recorder_(recorder), arenas_(arenas), optimizer_(settings.optimizer), foldsUpdate_(how.foldsUpdate),
      half_(half), gatherBatch_(kernels.gatherBatch(arenas.pixels, half != nullptr)),
      lossAndGradient_(
          kernels.lossAndGradient(arenas.shape.loss, arenas.shape.outputActivation, half != nullptr)),
      lossSum_(kernels.lossSum()), score_(kernels.score(arenas.shape.loss, arenas.shape.outputActivation)),
      updateLimit_(std::min(kernels.device().limits().groupCount[0], 1u << 20) * 64) {
    if (half != nullptr) {
        updateHalf_ = &kernels.updateHalf(settings.optimizer.kind);
        lossScale_ = &kernels.lossScale();
    } else if (!foldsUpdate_) {
        update_ = &kernels.update(settings.optimizer.kind);
    }
    // The forward pass applies a layer's activation; the backward pass, the derivative of the one below.
    for (std::size_t layer = 0; layer < how.layers.size(); ++layer) {
        const LayerKernels& products = how.layers[layer];
        const Activation own = arenas.shape.activationOf(layer);
        const Activation below = layer == 0 ? Activation::identity : arenas.shape.activationOf(layer - 1);
        LayerPipelines& pipelines = layers_.emplace_back();
        pipelines.forward = kernels.dense(Product::forward, products.forward, own);
        if (layer > 0)
            pipelines.backwardInputs = kernels.dense(Product::backwardInputs, products.backwardInputs, below);
        if (foldsUpdate_)
            pipelines.denseUpdate = &kernels.denseUpdate(products.backwardWeights, optimizer_.kind);
        else
            pipelines.backwardWeights =
                kernels.dense(Product::backwardWeights, products.backwardWeights, own);
    }
}

} // namespace lockstep
