// Notation as in ops.h; in names, A is `activations`, Z is `sums` and dZ is `dSums`. Every operation hands
// the recorder its kernel, the items it covers (one per invocation or per output), its push constants, and
// its buffers in the order of the shader's bindings. The recorder adds the barriers.
//
// Start at dense(): product() adds the layer's sizes, and dispatchProduct() (dense_kernel.cpp) launches the
// shader. The constructor, at the end, looks up the kernels. `half_` is for the fp16 rungs and null
// elsewhere.
#include "engine/step/gpu_ops.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "engine/many/rank_watch.h"
#include "engine/plan/rewrites.h"
#include "engine/plan/rounding.h"
#include "engine/plan/work.h"
#include "engine/step/dense_kernel.h"
#include "engine/step/step_trace.h"

namespace lockstep {

namespace {

using gpu::asUint;

/// Where the ring of losses has a step's, in bytes.
std::uint64_t slotOf(const StepSettings& step) { return step.step % GpuMemory::ringSlots * sizeof(float); }

std::uint32_t groupsOf(std::size_t rows) {
    return asUint((rows + Kernels::rowsPerGroup - 1) / Kernels::rowsPerGroup);
}

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
            .slot = stepNumber % GpuMemory::ringSlots,
            .targetKind = arenas.targetKind,
            .groups = groupsOf(step.batch.rows),
            .scale = static_cast<float>(
                1.0 / static_cast<double>(lossTerms(arenas.shape.loss, step.batch.rows, outputs)))};
}

// What the planned operation costs or, in an evaluation, which has no plan, `alone`.
gpu::Cost GpuOps::cost(const PlannedOperation& alone) {
    const PlannedOperation& operation = planned() != nullptr ? *planned() : alone;
    const Work work = work_.of(operation, rows_);
    return {work.flops, work.bytes, traceTag(operation.operation, operation.layer), false};
}

const StepFusions& GpuOps::fusions() const {
    if (fusions_ == nullptr) throw std::logic_error("these operations have no kernels for joined ones");
    return *fusions_;
}

void GpuOps::gather(const GpuExamples& examples, const TensorTable& tensors,
                    const shared::GatherBatchParams& params) {
    tensors_ = &tensors;
    const std::size_t rows = rows_ = params.rows;
    recorder_.dispatch(gatherBatch_, {examples.sourceStride / 4, asUint(rows), 1}, params,
                       {examples.source.view(), examples.answers.view(), activations(0),
                        arenas_.targets.view(0, rows * arenas_.targetWidth * sizeof(std::uint32_t))},
                       cost({Operation::gatherBatch}));
    endOperation();
}

void GpuOps::gatherBatch(const StepSettings& step) {
    gather(arenas_.train, arenas_.memory.step, gatherParams(arenas_, step));
}

void GpuOps::gatherRange(Split split, std::size_t first, std::size_t rows) {
    const GpuExamples& examples = arenas_.examples(split);
    gather(examples, arenas_.memory.evaluation,
           {asUint(rows),
            asUint(first),
            asUint(examples.count),
            0,
            arenas_.stride(0),
            examples.sourceStride,
            arenas_.targetWidth,
            {}});
}

void GpuOps::product(const DenseKernel& kernel, const PlannedOperation& operation,
                     std::initializer_list<gpu::BufferView> views) {
    dispatchProduct(recorder_, kernel, denseShapeOf(arenas_.shape, operation.layer, rows_), views,
                    cost(operation), firstPiecesOnly_);
    endOperation();
}

void GpuOps::dense(std::size_t layer) {
    product(layers_[layer].forward, {Operation::dense, layer},
            {activations(layer), weights(layer), arenas_.bias(layer), activations(layer + 1), sums(layer)});
}

// Of a batch in pieces, each one's workgroups leave their sums behind those of the ones before; the last
// piece's loss is that of the batch.
void GpuOps::lossAndGradient(const StepSettings& step) {
    const std::size_t last = arenas_.shape.layers() - 1;
    shared::LossParams params = lossParams(arenas_, step);
    gpu::BufferView partials = arenas_.lossPartials.view();
    std::uint32_t groups = params.groups;
    bool complete = true;
    if (planned() != nullptr && planned()->pieces > 1) {
        const std::uint64_t bytes = GpuMemory::partialsOfPiece(arenas_.memory.pieceRows);
        const std::size_t piece = planned()->piece - planned()->firstPiece; // of this device's
        if (piece == 0) recorder_.fill(partials, 0);
        params.rows = asUint(rows_);
        groups = asUint((planned()->endPiece - planned()->firstPiece) * bytes / sizeof(float)); // more than 1
        params.groups = groups;
        complete = piece + 1 == ownPiecesOf(*planned(), step.batch.rows);
        partials = arenas_.lossPartials.view(piece * bytes, bytes);
    }
    // Only fp16 scales the loss; without it, the binding needs some other buffer.
    const gpu::BufferView scale = half_ != nullptr ? half_->lossScale() : arenas_.status.view();
    recorder_.dispatch(lossAndGradient_, {asUint(rows_), 1, 1}, params,
                       {arenas_.losses.view(), arenas_.status.view(), activations(last + 1), sums(last),
                        arenas_.targets.view(), dSums(last), partials, scale},
                       cost({Operation::lossAndGradient}));
    if (groups > 1 && complete)
        recorder_.dispatch(lossSum_, {1, 1, 1},
                           shared::LossSumParams{groups, params.step, params.slot, params.scale},
                           {arenas_.losses.view(), arenas_.status.view(), arenas_.lossPartials.view()},
                           {static_cast<double>(groups), static_cast<double>(groups) * sizeof(float),
                            traceTag(Operation::lossSum, 0)});
    endOperation();
}

void GpuOps::denseBackwardInputs(std::size_t layer) {
    product(layers_[layer].backwardInputs, {Operation::denseBackwardInputs, layer},
            {dSums(layer), weights(layer), sums(layer - 1), dSums(layer - 1)});
}

void GpuOps::denseBackwardWeights(std::size_t layer) {
    const bool adds = planned() != nullptr && planned()->adds();
    product(adds ? layers_[layer].addedWeights : layers_[layer].backwardWeights,
            {Operation::denseBackwardWeights, layer},
            {dSums(layer), activations(layer), arenas_.dWeights(layer), arenas_.dBias(layer)});
}

void GpuOps::denseBackwardWeightsAndUpdate(std::size_t layer, const StepSettings& step) {
    const DenseShape shape = denseShapeOf(arenas_.shape, layer, rows_);
    const FoldedBuffers buffers{dSums(layer),
                                activations(layer),
                                arenas_.status.view(),
                                arenas_.layerOf(arenas_.parameters, layer),
                                arenas_.layerOf(arenas_.state(0), layer),
                                arenas_.layerOf(arenas_.state(1), layer)};
    dispatchDenseUpdate(recorder_, *layers_[layer].denseUpdate, shape, step.update, buffers,
                        cost({Operation::denseBackwardWeightsAndUpdate, layer}));
    endOperation();
}

void GpuOps::gatheredDense(const StepSettings& step) {
    tensors_ = &arenas_.memory.step;
    rows_ = step.batch.rows;
    fusions().gatheredDense(recorder_, step, cost({Operation::gatheredDense}));
    endOperation();
}

void GpuOps::lastLayer(const StepSettings& step) {
    fusions().lastLayer(recorder_, step, cost({Operation::lastLayer}));
    endOperation();
}

void GpuOps::weightGradients(const StepSettings& step) {
    fusions().weightGradients(recorder_, step, cost({Operation::weightGradients}));
    endOperation();
}

void GpuOps::update(const StepSettings& step, std::size_t first, std::size_t layers) {
    std::size_t begin = arenas_.layout.layer(first).weightOffset;
    std::size_t floats = arenas_.layout.endOf(first + layers - 1) - begin;
    std::size_t state = begin;
    std::size_t gradients = begin;
    if (arenas_.ranks) { // then it is about one layer
        const Shards& shards = arenas_.ranks->shards();
        begin = shards.own(first).begin;
        floats = shards.own(first).size();
        state = shards.stateOf(first);
        gradients = shards.ownGradients(first);
        if (floats == 0 || failed_) return;
    }
    shared::UpdateParams params = step.update;
    params.count = asUint(floats);
    params.stride = std::min((params.count / 4 + 63) / 64 * 64, updateLimit()); // whole workgroups
    if (half_ != nullptr) {
        if (layers != arenas_.shape.layers())
            throw std::logic_error("in half precision, the update is that of all layers");
        return updateWithHalves(params);
    }
    const auto part = [&](const gpu::Buffer& arena, std::size_t from) {
        return arena.view(from * sizeof(float), floats * sizeof(float));
    };
    const auto stateOf = [&](std::size_t index) {
        return part(arenas_.state(index), index < arenas_.optimizerState.size() ? state : begin);
    };
    recorder_.dispatch(*update_, {params.stride, 1, 1}, params,
                       {arenas_.status.view(), part(arenas_.gradients, gradients),
                        part(arenas_.parameters, begin), stateOf(0), stateOf(1)},
                       cost({Operation::update, first, layers}));
    endOperation();
}

void GpuOps::updateWithHalves(const shared::UpdateParams& params) {
    const auto layers = asUint(arenas_.shape.layers());
    recorder_.dispatch(*lossScale_, {1, 1, 1}, shared::LossScaleParams{layers},
                       {arenas_.status.view(), arenas_.gradients.view(), half_->lossScale(), half_->table()},
                       {0, 0, traceTag(Operation::lossScale, 0)});
    recorder_.dispatch(*updateHalf_, {params.stride, 1, 1}, shared::UpdateHalfParams{params, layers},
                       {arenas_.status.view(), arenas_.gradients.view(), arenas_.parameters.view(),
                        arenas_.state(0).view(), arenas_.state(1).view(), half_->lossScale(), half_->table(),
                        half_->allWeights()},
                       cost({Operation::update, 0, arenas_.shape.layers()}));
    endOperation();
}

// With a scale, the tensor's largest number comes first.
void GpuOps::round(const PlannedOperation& operation, std::size_t rows, std::size_t columns,
                   const gpu::BufferView& from, const gpu::BufferView& to) {
    const Rounding how = roundingOf(precision_, operation.operation);
    const Operation shownAs = rowOf(operation.operation).shownAs;
    const auto stride = asUint(roundUpToFour(columns));
    const std::uint32_t count = asUint(rows) * (stride / 4);
    const shared::RoundParams params{.count = count,
                                     .invocations =
                                         std::min((count + 63) / 64 * 64, updateLimit()), // whole workgroups
                                     .columns = asUint(columns),
                                     .stride = stride,
                                     .slot = asUint(scaleSlot(operation.operation, operation.layer)),
                                     .mostScale = how.mostScale};
    const gpu::WorkItems items{params.invocations, 1, 1};
    gpu::Cost cost = this->cost(operation);
    if (how.scaled) {
        const gpu::BufferView all = arenas_.largestOperands->view();
        recorder_.fill(
            arenas_.largestOperands->view(params.slot * sizeof(std::uint32_t), sizeof(std::uint32_t)), 0);
        recorder_.dispatch(kernels_.largestOperand(shownAs), items, params, {from, all}, {0, 0, cost.tag});
        cost.continues = true;
    }
    // The binding of a scale that there is not needs some other buffer.
    recorder_.dispatch(kernels_.roundOperand(how, shownAs), items, params,
                       {from, to, how.scaled ? arenas_.largestOperands->view() : arenas_.status.view()},
                       cost);
    endOperation();
}

void GpuOps::roundParameters(const PlannedOperation& operation, const StepSettings& step) {
    const std::size_t begin = arenas_.layout.layer(operation.layer).weightOffset;
    const std::size_t floats = arenas_.layout.endOf(operation.layer + operation.layers - 1) - begin;
    const std::uint32_t count = asUint(floats / 4);
    const shared::RoundParametersParams params{
        .count = count,
        .invocations = std::min((count + 63) / 64 * 64, updateLimit()), // whole workgroups
        .first = asUint(begin / 4),
        .stepLow = static_cast<std::uint32_t>(step.step),
        .stepHigh = static_cast<std::uint32_t>(step.step >> 32),
        .seedLow = static_cast<std::uint32_t>(seed_),
        .seedHigh = static_cast<std::uint32_t>(seed_ >> 32)};
    recorder_.dispatch(
        kernels_.roundParameters(roundingOf(precision_, operation.operation).kind, precision_.rounding),
        {params.invocations, 1, 1}, params,
        {arenas_.parameters.view(begin * sizeof(float), floats * sizeof(float))}, cost(operation));
    endOperation();
}

void GpuOps::copyActivations(const PlannedOperation& operation) {
    const bool fetches = operation.operation == Operation::fetchActivations;
    const std::string name(rowOf(operation.operation).name);
    gpu::Cost cost = this->cost(operation);
    const auto copy = [&](const TensorId& here, TensorKind away) {
        const gpu::BufferView own = arenas_.view(*tensors_, here, rows_);
        const gpu::BufferView host = arenas_.view(*tensors_, {away, here.layer}, rows_);
        recorder_.copy(fetches ? host : own, fetches ? own : host, name, cost);
        cost = {0, 0, cost.tag, true};
    };
    const std::size_t level = operation.layer;
    copy({TensorKind::activations, level}, TensorKind::hostActivations);
    if (level == 0) return endOperation();
    if (const TensorId saved = savedOf(arenas_.shape, level - 1); saved.kind == TensorKind::sums)
        copy(saved, TensorKind::hostSums);
    endOperation();
}

// The gradients go to the host's memory, in a submission of their own: the host waits for it while the device
// computes those of the layers below.
void GpuOps::beginExchange(std::size_t layer, const StepSettings& step) {
    if (!arenas_.ranks) return;
    const gpu::BufferView gradients = arenas_.gradientsIn(layer);
    if (arenas_.settings.idleFor(step.batch.rows)) recorder_.fill(gradients, 0);
    recorder_.copy(gradients,
                   exchangedView(arenas_.layout.layer(layer).weightOffset, gradients.size / sizeof(float)));
    if (exchanging_) onTheirWay_.push_back({layer, recorder_.submitAndGoOn()});
}

/// Hands to the exchange what has begun its way, as it arrives.
void GpuOps::sendOff(const StepSettings& step) {
    for (const auto& [layer, ticket] : onTheirWay_) {
        recorder_.device().wait(ticket);
        if (arenas_.watch != nullptr)
            arenas_.watch->lap(layer + 1 == arenas_.shape.layers() ? RankWork::forward : RankWork::backward,
                               layer);
        if (layer + 1 == arenas_.shape.layers()) {
            float loss = 0; // of this rank's examples, as their part of the batch's mean
            std::memcpy(&loss, arenas_.losses.mapped().data() + slotOf(step), sizeof loss);
            if (arenas_.settings.idleFor(step.batch.rows)) loss = 0;
            arenas_.ranks->beginLoss(step.step, loss * termsOf(step));
        }
        arenas_.ranks->begin(step.step, layer, arenas_.exchangedFloats(layer, 1));
    }
    onTheirWay_.clear();
}

// The loss of all ranks takes the place of this one's. If it is not finite, this rank updates nothing, as
// devices do whose own loss is not. Of the sums, the device gets what it updates.
void GpuOps::awaitExchange(std::size_t layer, const StepSettings& step) {
    if (!arenas_.ranks || !exchanging_) return;
    sendOff(step);
    if (layer + 1 == arenas_.shape.layers()) {
        const auto loss = static_cast<float>(arenas_.ranks->awaitLoss() / termsOf(step));
        std::memcpy(arenas_.losses.mappedToWrite(slotOf(step), sizeof loss).data(), &loss, sizeof loss);
        arenas_.losses.wrote(slotOf(step), sizeof loss);
        failed_ = !std::isfinite(loss);
    }
    arenas_.ranks->await(layer);
    if (arenas_.watch != nullptr) arenas_.watch->lap(RankWork::wait, layer);
    const Shards& shards = arenas_.ranks->shards();
    const FloatRange own = shards.own(layer);
    if (own.size() == 0) return;
    const gpu::BufferView there = exchangedView(own.begin, own.size());
    arenas_.exchanged->wrote(there.offset, there.size);
    recorder_.copy(there, arenas_.gradients.view(shards.ownGradients(layer) * sizeof(float), there.size));
}

void GpuOps::gatherParameters(const StepSettings& step) {
    if (!arenas_.ranks || !exchanging_ || failed_) return;
    recorder_.copy(arenas_.parameters.view(), arenas_.exchanged->view());
    recorder_.device().wait(recorder_.submitAndGoOn());
    arenas_.ranks->gatherParameters(step.step, arenas_.exchangedFloats(0, arenas_.shape.layers()));
    arenas_.exchanged->wrote(0, arenas_.exchanged->size());
    recorder_.copy(arenas_.exchanged->view(), arenas_.parameters.view());
}

void GpuOps::carryOut(const PlannedOperation& operation, const StepSettings& step) {
    const std::size_t layer = operation.layer;
    const std::vector<std::size_t>& widths = arenas_.shape.widths;
    switch (operation.operation) {
    case Operation::exchange: return beginExchange(layer, step);
    case Operation::awaitExchange: return awaitExchange(layer, step);
    case Operation::gatherParameters: return gatherParameters(step);
    case Operation::roundActivations:
        return round(operation, rows_, widths[layer], activations(layer), activations(layer));
    case Operation::roundDSums: return round(operation, rows_, widths[layer + 1], dSums(layer), dSums(layer));
    case Operation::roundWeights:
        return round(operation, widths[layer + 1], widths[layer], arenas_.weights(layer), weightCopy(layer));
    case Operation::roundParameters: return roundParameters(operation, step);
    case Operation::storeActivations:
    case Operation::fetchActivations: return copyActivations(operation);
    default: Ops::carryOut(operation, step);
    }
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
                       {activations(last + 1), arenas_.targets.view(), arenas_.scoreSums.view(),
                        arenas_.scoreCounts.view()});
    scoreSlot_ += groupsOf(rows_);
    endOperation();
}

GpuOps::GpuOps(gpu::Recorder& recorder, GpuArenas& arenas, Kernels& kernels, const TrainSettings& settings,
               const StepKernels& how, const HalfArenas* half, const StepFusions* fusions)
    : recorder_(recorder), arenas_(arenas), kernels_(kernels),
      work_({arenas.shape, settings.optimizer, arenas.targetWidth, arenas.pixels, half != nullptr}),
      half_(half), precision_(settings.precision), seed_(settings.seed),
      gatherBatch_(kernels.gatherBatch(arenas.pixels, half != nullptr)),
      lossAndGradient_(
          kernels.lossAndGradient(arenas.shape.loss, arenas.shape.outputActivation, half != nullptr)),
      lossSum_(kernels.lossSum()), score_(kernels.score(arenas.shape.loss, arenas.shape.outputActivation)),
      fusions_(fusions), tensors_(&arenas.memory.step) {
    if (half != nullptr) {
        updateHalf_ = &kernels.updateHalf(settings.optimizer.kind);
        lossScale_ = &kernels.lossScale();
    } else if (!how.foldsUpdate) {
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
        if (how.foldsUpdate)
            pipelines.denseUpdate = &kernels.denseUpdate(products.backwardWeights, settings.optimizer.kind);
        else
            pipelines.backwardWeights =
                kernels.dense(Product::backwardWeights, products.backwardWeights, own);
        if (settings.addsGradients())
            pipelines.addedWeights =
                kernels.dense(Product::backwardWeights, products.backwardWeights, own, true);
    }
}

} // namespace lockstep
