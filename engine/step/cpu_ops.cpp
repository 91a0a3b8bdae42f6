#include "engine/step/cpu_ops.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace lockstep {

CpuOps::CpuOps(CpuArenas& arenas, ThreadTeam& team, CpuTiming* timing)
    : arenas_(arenas), team_(team), timing_(timing) {}

Share CpuOps::outputsOf(std::size_t layer, std::size_t part) const {
    return shareOf(arenas_.layout.layer(layer).outputs, part, team_.size());
}

// The left matrix of a product is packed as well: by columns each part packs all of it.
CpuOps::Cut CpuOps::bestCut(std::size_t layer, std::size_t columns) const {
    constexpr std::size_t worthABarrier = 1 << 20; // numbers; packing them takes a core about a millisecond
    const bool many = arenas_.layout.layer(layer).weightCount() >= worthABarrier;
    return team_.size() > 1 && many && columns > batchRows_ ? Cut::columns : Cut::rows;
}

/// What comes next is cut so. Parts that are not cut by rows before and after need what others computed.
void CpuOps::cutBy(Cut cut) {
    if (cut == Cut::columns || cut_ == Cut::columns) meetOthers();
    cut_ = cut;
}

void CpuOps::meetOthers() {
    team_.barrier();
    if (timing_ != nullptr) timing_->waited();
}

void CpuOps::lap(CpuOperation operation, const Work& work, std::size_t layer) {
    if (timing_ != nullptr) timing_->lap(operation, work, layer);
}

void CpuOps::gatherBatch(const StepSettings& step) {
    batchRows_ = step.batch.rows;
    // The folded update is w -= rate * (gradient + l2 * w), with w taken out of the bracket.
    rate_ = step.update.learningRate;
    keep_ = 1.0f - step.update.learningRate * step.update.l2;
    const Share rows = ownRows();
    arenas_.kernels.gatherBatch(arenas_.data, arenas_.data.train, arenas_.order, step.batch, rows.begin,
                                rows.end, arenas_.layout.layer(0).rowStride, arenas_.inputs.data(),
                                arenas_.targets.data());
    lap(CpuOperation::gatherBatch, gatherWork(batchRows_, arenas_.shape.inputs(), arenas_.data.bytes()));
}

// The last range of a split is shorter and shared out differently: nobody may still be reading the rows that
// become another thread's.
void CpuOps::gatherRange(Split split, std::size_t first, std::size_t rows) {
    team_.barrier();
    cut_ = Cut::rows;
    batchRows_ = rows;
    const Share own = ownRows();
    const Examples& examples = split == Split::train ? arenas_.data.train : arenas_.data.test;
    const BatchOrder fileOrder(examples.count, examples.count, 0, false);
    arenas_.kernels.gatherBatch(arenas_.data, examples, fileOrder, BatchRange{0, first, rows}, own.begin,
                                own.end, arenas_.layout.layer(0).rowStride, arenas_.inputs.data(),
                                arenas_.targets.data());
}

void CpuOps::dense(std::size_t layer) {
    const LayerLayout& place = arenas_.layout.layer(layer);
    const float* below = layer == 0 ? arenas_.inputs.data() : arenas_.layers[layer - 1].outputs.data();
    LayerArrays& own = arenas_.layers[layer];
    cutBy(bestCut(layer, place.outputs));
    forParts([&](std::size_t part) {
        DenseShape shape = arenas_.denseShape(layer, batchRows_);
        const auto [rows, columns] = blockOf(place.outputs, part);
        shape.rows = rows.end - rows.begin;
        shape.outputs = columns.end - columns.begin;
        const std::size_t first = rows.begin * shape.outputStride + columns.begin;
        arenas_.kernels.dense(
            shape, below + rows.begin * shape.inputStride,
            arenas_.parameters.data() + place.weightOffset + columns.begin * place.rowStride,
            arenas_.parameters.data() + place.biasOffset + columns.begin, arenas_.shape.activationOf(layer),
            own.outputs.data() + first, own.sums.size() == 0 ? nullptr : own.sums.data() + first);
    });
    lap(CpuOperation::dense, denseWork(arenas_.denseShape(layer, batchRows_)), layer);
}

LossShape CpuOps::lossShape(Share rows) const {
    const std::size_t outputs = arenas_.shape.outputs();
    LossShape shape;
    shape.rows = rows.end - rows.begin;
    shape.outputs = outputs;
    shape.stride = roundUpToFour(outputs);
    shape.targetWidth = arenas_.data.targetWidth;
    shape.loss = arenas_.shape.loss;
    shape.targetKind = arenas_.targetKind;
    shape.outputActivation = arenas_.shape.outputActivation;
    shape.scale = 1.0 / static_cast<double>(lossTerms(shape.loss, batchRows_, outputs));
    return shape;
}

void CpuOps::lossAndGradient(const StepSettings&) {
    const std::size_t last = arenas_.shape.layers() - 1;
    cutBy(Cut::rows);
    forParts([&](std::size_t part) {
        const Share rows = rowsOf(part);
        const LossShape shape = lossShape(rows);
        const std::size_t offset = rows.begin * shape.stride;
        arenas_.partialLosses[part].sum = arenas_.kernels.lossAndGradient(
            shape, arenas_.layers[last].outputs.data() + offset, arenas_.saved(last) + offset,
            arenas_.targets.data() + rows.begin * shape.targetWidth,
            arenas_.layers[last].dSums.data() + offset);
    });
    lap(CpuOperation::lossAndGradient, lossWork(batchRows_, arenas_.shape.outputs()));
}

// A weight gradient needs dZ[layer] of all rows, and so of all threads; an input gradient needs only the
// thread's own. So the blame is passed down through all layers first, and one barrier before the weight
// gradients serves them all. It also makes sure that nobody still reads weights which a folded update is
// about to change.
void CpuOps::denseBackward(std::size_t layer) {
    if (layer > 0) {
        backwardInputs(layer);
        return;
    }
    meetOthers();
    cut_ = Cut::rows;
    settleLoss();
    if (failed_) return;
    for (std::size_t each = arenas_.shape.layers(); each-- > 0;) backwardWeights(each);
}

void CpuOps::backwardInputs(std::size_t layer) {
    const LayerLayout& place = arenas_.layout.layer(layer);
    cutBy(bestCut(layer, place.inputs));
    forParts([&](std::size_t part) {
        DenseShape shape = arenas_.denseShape(layer, batchRows_);
        const auto [rows, columns] = blockOf(place.inputs, part);
        shape.rows = rows.end - rows.begin;
        shape.inputs = columns.end - columns.begin;
        const std::size_t below = rows.begin * shape.inputStride + columns.begin;
        arenas_.kernels.denseBackwardInputs(
            shape, arenas_.layers[layer].dSums.data() + rows.begin * shape.outputStride,
            arenas_.parameters.data() + place.weightOffset + columns.begin,
            arenas_.shape.activationOf(layer - 1), arenas_.saved(layer - 1) + below,
            arenas_.layers[layer - 1].dSums.data() + below);
    });
    lap(CpuOperation::denseBackwardInputs, denseWork(arenas_.denseShape(layer, batchRows_)), layer);
}

// Summed in the order of the parts, so that the same number of threads gives the same loss every time, and
// by every thread for itself, so that all decide alike whether the step may change the weights.
void CpuOps::settleLoss() {
    double sum = 0;
    for (const CpuArenas::PartialLoss& part : arenas_.partialLosses) sum += part.sum;
    const std::size_t terms = lossTerms(arenas_.shape.loss, batchRows_, arenas_.shape.outputs());
    loss_ = static_cast<float>(sum / static_cast<double>(terms));
    failed_ = !std::isfinite(loss_);
}

void CpuOps::backwardWeights(std::size_t layer) {
    const DenseShape shape = arenas_.denseShape(layer, batchRows_);
    const LayerLayout& place = arenas_.layout.layer(layer);
    const float* dSums = arenas_.layers[layer].dSums.data();
    const float* below = layer == 0 ? arenas_.inputs.data() : arenas_.layers[layer - 1].outputs.data();
    float* target = arenas_.foldsUpdate ? arenas_.parameters.data() : arenas_.gradients.data();
    forParts([&](std::size_t part) {
        const Share outputs = outputsOf(layer, part);
        if (outputs.begin == outputs.end) return;
        if (arenas_.foldsUpdate)
            arenas_.kernels.denseBackwardWeightsAndUpdate(shape, dSums, below, outputs.begin, outputs.end,
                                                          keep_, rate_, target + place.weightOffset,
                                                          target + place.biasOffset);
        else
            arenas_.kernels.denseBackwardWeights(shape, dSums, below, outputs.begin, outputs.end,
                                                 target + place.weightOffset, target + place.biasOffset);
    });
    lap(CpuOperation::denseBackwardWeights, denseWork(shape), layer);
}

void CpuOps::exchange() {}

// A thread updates the slices whose gradients it has just computed: they are in its cache, and nobody has to
// wait. The barrier at the end keeps the next step from reading half-updated weights.
void CpuOps::update(const StepSettings& step) {
    if (!failed_ && !arenas_.foldsUpdate) {
        for (std::size_t layer = 0; layer < arenas_.shape.layers(); ++layer) {
            const LayerLayout& place = arenas_.layout.layer(layer);
            forParts([&](std::size_t part) {
                const Share outputs = outputsOf(layer, part);
                updateSlice(step, place.weightOffset + outputs.begin * place.rowStride,
                            place.weightOffset + outputs.end * place.rowStride);
                updateSlice(step, place.biasOffset + outputs.begin, place.biasOffset + outputs.end);
            });
        }
        lap(CpuOperation::update, updateWork(arenas_.shape, arenas_.optimizer));
    }
    meetOthers();
}

void CpuOps::updateSlice(const StepSettings& step, std::size_t begin, std::size_t end) {
    arenas_.kernels.update(arenas_.optimizer.kind, step.update, begin, end, arenas_.gradients.data(),
                           arenas_.parameters.data(), arenas_.stateArray(0), arenas_.stateArray(1));
}

void CpuOps::score() {
    cutBy(Cut::rows);
    const Share rows = ownRows();
    const LossShape shape = lossShape(rows);
    addScore(arenas_.kernels.score(
        shape, arenas_.data.classes, arenas_.layers.back().outputs.data() + rows.begin * shape.stride,
        arenas_.targets.data() + rows.begin * shape.targetWidth, confusionCounts()));
}

void CpuOps::copyOutputs(float* to) {
    cutBy(Cut::rows);
    const std::size_t outputs = arenas_.shape.outputs();
    const float* from = arenas_.layers.back().outputs.data();
    for (std::size_t row = ownRows().begin; row < ownRows().end; ++row, to += outputs)
        std::copy_n(from + row * roundUpToFour(outputs), outputs, to);
}

std::vector<float> CpuOps::tensor(const TensorId& id, std::size_t floats) const {
    std::vector<float> result(floats);
    const auto copyFrom = [&](const void* from) { std::memcpy(result.data(), from, floats * sizeof(float)); };
    if (id.kind == TensorKind::targets)
        copyFrom(arenas_.targets.data());
    else if (id.kind == TensorKind::activations)
        copyFrom(id.layer == 0 ? arenas_.inputs.data() : arenas_.layers[id.layer - 1].outputs.data());
    else
        copyFrom(id.kind == TensorKind::sums ? arenas_.layers[id.layer].sums.data()
                                             : arenas_.layers[id.layer].dSums.data());
    return result;
}

} // namespace lockstep
