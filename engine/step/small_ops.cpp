#include "engine/step/small_ops.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/net/activation.h"

namespace lockstep {

namespace {

/// Turns [neurons][stride] into [rows][width] and returns the first `floats` floats; padding is 0.
template <class T>
std::vector<float> byExample(const T* from, std::size_t neurons, std::size_t stride, std::size_t width,
                             std::size_t floats) {
    std::vector<float> result(floats);
    for (std::size_t at = 0; at < floats; ++at)
        if (at % width < neurons)
            std::memcpy(&result[at], from + at % width * stride + at / width, sizeof(float));
    return result;
}

} // namespace

bool fitsSmallOps(const NetShape& shape, std::size_t batch) {
    // Measured: packed panels are faster for wider layers, and where so few examples leave most elements of a
    // register unused (unless there are hardly any weights). Beyond `mostFlops` a second thread pays.
    constexpr std::size_t widest = 64;
    constexpr std::size_t fewExamples = 8;
    constexpr std::size_t fewParameters = 1024;
    constexpr double mostFlops = 2e6;
    return shape.widest() <= widest && (batch >= fewExamples || shape.parameters() <= fewParameters) &&
           shape.flopsPerExample() * static_cast<double>(roundUpToGrain(batch)) <= mostFlops;
}

SmallOps::SmallOps(CpuArenas& arenas, const SmallKernels& kernels, CpuTiming& timing)
    : arenas_(arenas), kernels_(kernels), timing_(timing), stride_(roundUpToGrain(arenas.order.batch())),
      inputs_(roundUpToGrain(arenas.shape.inputs()) * stride_), targets_(arenas.data.targetWidth * stride_) {
    for (std::size_t layer = 0; layer < arenas.shape.layers(); ++layer) {
        const std::size_t size = roundUpToGrain(arenas.shape.widths[layer + 1]) * stride_;
        const bool keepsSums = derivativeNeedsSum(arenas.shape.activationOf(layer));
        layers_.push_back({AlignedArray<float>(size), AlignedArray<float>(keepsSums ? size : 0),
                           AlignedArray<float>(size)});
    }
}

SmallShape SmallOps::shapeOf(std::size_t layer) const {
    const LayerLayout& place = arenas_.layout.layer(layer);
    return {rows_, place.inputs, place.outputs, place.rowStride, stride_};
}

const float* SmallOps::below(std::size_t layer) const {
    return layer == 0 ? inputs_.data() : layers_[layer - 1].outputs.data();
}

const float* SmallOps::saved(std::size_t layer) const {
    const Layer& own = layers_[layer];
    return own.sums.size() == 0 ? own.outputs.data() : own.sums.data();
}

/// Counting the work takes as long as some of it: only for steps that are timed.
void SmallOps::lap(CpuOperation operation, std::size_t layer) {
    if (!timing_.watching()) return;
    const std::size_t outputs = arenas_.shape.outputs();
    switch (operation) {
    case CpuOperation::gatherBatch:
        return timing_.lap(operation, gatherWork(rows_, arenas_.shape.inputs(), arenas_.data.bytes()));
    case CpuOperation::lossAndGradient: return timing_.lap(operation, lossWork(rows_, outputs));
    case CpuOperation::update: return timing_.lap(operation, updateWork(arenas_.shape, arenas_.optimizer));
    default: return timing_.lap(operation, denseWork(arenas_.denseShape(layer, rows_)), layer);
    }
}

void SmallOps::gatherBatch(const StepSettings& step) {
    rows_ = step.batch.rows;
    const SmallBatch batch{step.batch.first, rows_, arenas_.order.shuffles(), step.keys};
    kernels_.gatherBatch(arenas_.data, arenas_.data.train, batch, stride_, inputs_.data(), targets_.data());
    lap(CpuOperation::gatherBatch);
}

void SmallOps::gatherRange(Split split, std::size_t first, std::size_t rows) {
    rows_ = rows;
    const Examples& examples = arenas_.data.of(split);
    kernels_.gatherBatch(arenas_.data, examples, {first, rows, false, {}}, stride_, inputs_.data(),
                         targets_.data());
}

void SmallOps::dense(std::size_t layer) {
    const LayerLayout& place = arenas_.layout.layer(layer);
    Layer& own = layers_[layer];
    const float* parameters = arenas_.parameters.data();
    kernels_.dense(shapeOf(layer), below(layer), parameters + place.weightOffset,
                   parameters + place.biasOffset, arenas_.shape.activationOf(layer), own.outputs.data(),
                   own.sums.size() == 0 ? nullptr : own.sums.data());
    lap(CpuOperation::dense, layer);
}

void SmallOps::lossAndGradient(const StepSettings&) {
    Layer& last = layers_.back();
    LossShape shape = arenas_.lossShape(rows_, rows_);
    shape.stride = stride_;
    const double sum = kernels_.lossAndGradient(shape, last.outputs.data(), saved(layers_.size() - 1),
                                                targets_.data(), last.dSums.data());
    const std::size_t terms = lossTerms(arenas_.shape.loss, rows_, arenas_.shape.outputs());
    loss_ = static_cast<float>(sum / static_cast<double>(terms));
    failed_ = !std::isfinite(loss_);
    lap(CpuOperation::lossAndGradient);
}

void SmallOps::denseBackwardInputs(std::size_t layer) {
    if (failed_) return;
    kernels_.denseBackwardInputs(shapeOf(layer), layers_[layer].dSums.data(),
                                 arenas_.parameters.data() + arenas_.layout.layer(layer).weightOffset,
                                 arenas_.shape.activationOf(layer - 1), saved(layer - 1),
                                 layers_[layer - 1].dSums.data());
    lap(CpuOperation::denseBackwardInputs, layer);
}

// target = keep target + add gradient.
void SmallOps::addWeightGradient(std::size_t layer, float keep, float add, float* target) {
    if (failed_) return;
    const LayerLayout& place = arenas_.layout.layer(layer);
    kernels_.addWeightGradient(shapeOf(layer), layers_[layer].dSums.data(), below(layer), keep, add,
                               target + place.weightOffset, target + place.biasOffset);
    lap(CpuOperation::denseBackwardWeights, layer);
}

void SmallOps::denseBackwardWeights(std::size_t layer) {
    addWeightGradient(layer, 0, 1, arenas_.gradients.data());
}

void SmallOps::denseBackwardWeightsAndUpdate(std::size_t layer, const StepSettings& step) {
    addWeightGradient(layer, keptOfWeights(step.update), -step.update.learningRate,
                      arenas_.parameters.data());
}

void SmallOps::update(const StepSettings& step) {
    if (failed_) return;
    arenas_.kernels.update(arenas_.optimizer.kind, step.update, 0, arenas_.layout.size(),
                           arenas_.gradients.data(), arenas_.parameters.data(), arenas_.stateArray(0),
                           arenas_.stateArray(1));
    lap(CpuOperation::update);
}

void SmallOps::score() {
    const std::size_t width = roundUpToFour(arenas_.shape.outputs());
    const std::vector<float> outputs =
        byExample(layers_.back().outputs.data(), arenas_.shape.outputs(), stride_, width, rows_ * width);
    const std::size_t words = arenas_.data.targetWidth;
    const std::vector<float> targets = byExample(targets_.data(), words, stride_, words, rows_ * words);
    std::vector<TargetWord> targetWords(targets.size());
    std::memcpy(targetWords.data(), targets.data(), targets.size() * sizeof(TargetWord));
    addScore(arenas_.kernels.score(arenas_.lossShape(rows_, rows_), arenas_.data.classes, outputs.data(),
                                   targetWords.data(), confusionCounts()));
}

void SmallOps::copyOutputs(float* to) {
    const std::size_t outputs = arenas_.shape.outputs();
    const std::vector<float> rows =
        byExample(layers_.back().outputs.data(), outputs, stride_, outputs, rows_ * outputs);
    std::memcpy(to, rows.data(), rows.size() * sizeof(float));
}

std::vector<float> SmallOps::tensor(const TensorId& id, std::size_t floats) const {
    if (id.kind == TensorKind::targets)
        return byExample(targets_.data(), arenas_.data.targetWidth, stride_, arenas_.data.targetWidth,
                         floats);
    const bool level = id.kind == TensorKind::activations; // A[0] is the inputs, A[l + 1] layer l's outputs
    const std::size_t width = arenas_.shape.widths[level ? id.layer : id.layer + 1];
    const float* from = level                          ? below(id.layer)
                        : id.kind == TensorKind::dSums ? layers_[id.layer].dSums.data()
                                                       : layers_[id.layer].sums.data();
    return byExample(from, width, stride_, roundUpToFour(width), floats);
}

} // namespace lockstep
