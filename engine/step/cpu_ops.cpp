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

// A product packs its left-hand matrix, too: cut by columns, each part packs all of it.
CpuOps::Cut CpuOps::bestCut(std::size_t layer, std::size_t columns) const {
    constexpr std::size_t worthABarrier = 1 << 20; // weights; packing them takes a core about 1 ms
    const bool many = arenas_.layout.layer(layer).weightCount() >= worthABarrier;
    return team_.size() > 1 && many && columns > batchRows_ ? Cut::columns : Cut::rows;
}

/// Begins an operation cut like this. After one of the same cut, a part needs
/// only what it has computed itself: its rows of the batch, or its rows of the
/// weights. In all other cases it needs the other parts' results.
void CpuOps::cutBy(Cut cut) {
    if (cut == cut_ && cut != Cut::columns) return;
    meetOthers();
    cut_ = cut;
    if (cut == Cut::weights) sumLoss(); // all parts of it are there now
}

void CpuOps::meetOthers() {
    team_.barrier();
    if (timing_ != nullptr && team_.size() > 1) timing_->waited();
}

void CpuOps::lap(CpuOperation operation, const Work& work, std::size_t layer) {
    if (timing_ != nullptr) timing_->lap(operation, work, layer);
}

void CpuOps::gatherBatch(const StepSettings& step) {
    batchRows_ = step.batch.rows;
    cut_ = Cut::rows; // endStep() waited
    const Share rows = ownRows();
    arenas_.kernels.gatherBatch(arenas_.data, arenas_.data.train, arenas_.order, step.batch, rows.begin,
                                rows.end, arenas_.layout.layer(0).rowStride, arenas_.inputs.data(),
                                arenas_.targets.data());
    lap(CpuOperation::gatherBatch, gatherWork(batchRows_, arenas_.shape.inputs(), arenas_.data.bytes()));
}

// The last range of a split is shorter and divided differently: wait until no
// thread reads the rows that become another thread's.
void CpuOps::gatherRange(Split split, std::size_t first, std::size_t rows) {
    team_.barrier();
    cut_ = Cut::rows;
    batchRows_ = rows;
    const Share own = ownRows();
    const Examples& examples = arenas_.data.of(split);
    const BatchOrder fileOrder(examples.count, examples.count, 0, false);
    arenas_.kernels.gatherBatch(arenas_.data, examples, fileOrder, BatchRange{0, first, rows}, own.begin,
                                own.end, arenas_.layout.layer(0).rowStride, arenas_.inputs.data(),
                                arenas_.targets.data());
}

void CpuOps::dense(std::size_t layer) {
    const LayerLayout& place = arenas_.layout.layer(layer);
    const float* below = arenas_.below(layer);
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

void CpuOps::lossAndGradient(const StepSettings&) {
    const std::size_t last = arenas_.shape.layers() - 1;
    cutBy(Cut::rows);
    forParts([&](std::size_t part) {
        const Share rows = rowsOf(part);
        const LossShape shape = arenas_.lossShape(rows.end - rows.begin, batchRows_);
        const std::size_t offset = rows.begin * shape.stride;
        arenas_.partialLosses[part].sum = arenas_.kernels.lossAndGradient(
            shape, arenas_.layers[last].outputs.data() + offset, arenas_.saved(last) + offset,
            arenas_.targets.data() + rows.begin * shape.targetWidth,
            arenas_.layers[last].dSums.data() + offset);
    });
    lap(CpuOperation::lossAndGradient, lossWork(batchRows_, arenas_.shape.outputs()));
}

void CpuOps::denseBackwardInputs(std::size_t layer) {
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

// In the order of the parts, so that the same number of threads gives the same loss every time. Each thread
// computes the sum itself, so that all agree on whether the step may change the weights.
void CpuOps::sumLoss() {
    double sum = 0;
    for (const CpuArenas::PartialLoss& part : arenas_.partialLosses) sum += part.sum;
    const std::size_t terms = lossTerms(arenas_.shape.loss, batchRows_, arenas_.shape.outputs());
    loss_ = static_cast<float>(sum / static_cast<double>(terms));
    failed_ = !std::isfinite(loss_);
}

/// This thread's rows of the layer's weights, part by part.
template <class Work> void CpuOps::forOutputs(std::size_t layer, const Work& work) const {
    forParts([&](std::size_t part) {
        const Share outputs = outputsOf(layer, part);
        if (outputs.begin < outputs.end) work(outputs.begin, outputs.end);
    });
}

// The gradients need dZ[layer] of all rows, and so from all threads. The first
// layer's call waits for them; that serves all layers.
void CpuOps::denseBackwardWeights(std::size_t layer) {
    cutBy(Cut::weights);
    if (failed_) return;
    const DenseShape shape = arenas_.denseShape(layer, batchRows_);
    const LayerLayout& place = arenas_.layout.layer(layer);
    forOutputs(layer, [&](std::size_t begin, std::size_t end) {
        arenas_.kernels.denseBackwardWeights(shape, arenas_.layers[layer].dSums.data(), arenas_.below(layer),
                                             begin, end, arenas_.gradients.data() + place.weightOffset,
                                             arenas_.gradients.data() + place.biasOffset);
    });
    lap(CpuOperation::denseBackwardWeights, denseWork(shape), layer);
}

// The barrier also guarantees that no thread still reads the weights that change here.
void CpuOps::denseBackwardWeightsAndUpdate(std::size_t layer, const StepSettings& step) {
    cutBy(Cut::weights);
    if (failed_) return;
    const DenseShape shape = arenas_.denseShape(layer, batchRows_);
    const LayerLayout& place = arenas_.layout.layer(layer);
    forOutputs(layer, [&](std::size_t begin, std::size_t end) {
        arenas_.kernels.denseBackwardWeightsAndUpdate(
            shape, arenas_.layers[layer].dSums.data(), arenas_.below(layer), begin, end,
            keptOfWeights(step.update), step.update.learningRate,
            arenas_.parameters.data() + place.weightOffset, arenas_.parameters.data() + place.biasOffset);
    });
    lap(CpuOperation::denseBackwardWeights, denseWork(shape), layer);
}

// A thread updates the slices whose gradients it has just computed: they are in
// its cache, and it needs no barrier.
void CpuOps::update(const StepSettings& step) {
    if (failed_) return;
    for (std::size_t layer = 0; layer < arenas_.shape.layers(); ++layer) {
        const LayerLayout& place = arenas_.layout.layer(layer);
        forOutputs(layer, [&](std::size_t begin, std::size_t end) {
            updateSlice(step, place.weightOffset + begin * place.rowStride,
                        place.weightOffset + end * place.rowStride);
            updateSlice(step, place.biasOffset + begin, place.biasOffset + end);
        });
    }
    lap(CpuOperation::update, updateWork(arenas_.shape, arenas_.optimizer));
}

void CpuOps::updateSlice(const StepSettings& step, std::size_t begin, std::size_t end) {
    arenas_.kernels.update(arenas_.optimizer.kind, step.update, begin, end, arenas_.gradients.data(),
                           arenas_.parameters.data(), arenas_.stateArray(0), arenas_.stateArray(1));
}

void CpuOps::score() {
    cutBy(Cut::rows);
    const Share rows = ownRows();
    const LossShape shape = arenas_.lossShape(rows.end - rows.begin, batchRows_);
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
        copyFrom(arenas_.below(id.layer));
    else
        copyFrom(id.kind == TensorKind::sums ? arenas_.layers[id.layer].sums.data()
                                             : arenas_.layers[id.layer].dSums.data());
    return result;
}

} // namespace lockstep
