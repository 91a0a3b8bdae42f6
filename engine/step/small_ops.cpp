#include "engine/step/small_ops.h"

#include <cstring>

#include "engine/step/step_trace.h"

namespace lockstep {

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
    : CpuBackend(arenas, &timing), kernels_(kernels) {}

SmallShape SmallOps::shapeOf(std::size_t layer) const {
    const LayerLayout& place = arenas_.layout.layer(layer);
    return {rows_, place.inputs, place.outputs, place.rowStride, arenas_.capacity};
}

void SmallOps::gather(const Examples& examples, const SmallBatch& batch) {
    rows_ = batch.rows;
    kernels_.gatherBatch(arenas_.data, examples, batch, arenas_.capacity, arenas_.inputs.data(),
                         arenas_.targets.data());
}

void SmallOps::gatherBatch(const StepSettings& step) {
    gather(arenas_.data.train, {step.batch.first, step.batch.rows, arenas_.order.shuffles(), step.keys});
    lap(CpuOperation::gatherBatch);
}

void SmallOps::gatherRange(Split split, std::size_t first, std::size_t rows) {
    gather(arenas_.data.of(split), {first, rows, false, {}});
}

void SmallOps::dense(std::size_t layer) {
    const LayerLayout& place = arenas_.layout.layer(layer);
    const float* parameters = arenas_.parameters.data();
    kernels_.dense(shapeOf(layer), arenas_.below(layer), parameters + place.weightOffset,
                   parameters + place.biasOffset, arenas_.shape.activationOf(layer),
                   arenas_.layers[layer].outputs.data(), arenas_.layers[layer].sums.data());
    lap(CpuOperation::dense, layer);
}

void SmallOps::lossAndGradient(const StepSettings&) {
    LayerArrays& last = arenas_.layers.back();
    LossShape shape = arenas_.lossShape(rows_, rows_);
    shape.stride = arenas_.capacity;
    setLoss(kernels_.lossAndGradient(shape, last.outputs.data(), last.saved(), arenas_.targets.data(),
                                     last.dSums.data()));
    lap(CpuOperation::lossAndGradient);
}

void SmallOps::denseBackwardInputs(std::size_t layer) {
    if (failed_) return;
    kernels_.denseBackwardInputs(shapeOf(layer), arenas_.layers[layer].dSums.data(),
                                 arenas_.parameters.data() + arenas_.layout.layer(layer).weightOffset,
                                 arenas_.shape.activationOf(layer - 1), arenas_.layers[layer - 1].saved(),
                                 arenas_.layers[layer - 1].dSums.data());
    lap(CpuOperation::denseBackwardInputs, layer);
}

void SmallOps::addWeightGradient(std::size_t layer, float keep, float scale, float* target) {
    if (failed_) return;
    const LayerLayout& place = arenas_.layout.layer(layer);
    kernels_.addWeightGradient(shapeOf(layer), arenas_.layers[layer].dSums.data(), arenas_.below(layer), keep,
                               scale, target + place.weightOffset, target + place.biasOffset);
    lap(CpuOperation::denseBackwardWeights, layer);
}

void SmallOps::update(const StepSettings& step) {
    if (failed_) return;
    arenas_.kernels.update(arenas_.optimizer.kind, step.update, 0, arenas_.layout.size(),
                           arenas_.gradients.data(), arenas_.parameters.data(), arenas_.stateArray(0),
                           arenas_.stateArray(1));
    lap(CpuOperation::update);
}

// The kernel takes outputs and targets row by row.
void SmallOps::score() {
    const LossShape shape = arenas_.lossShape(rows_, rows_);
    const std::vector<float> outputs =
        arenas_.tensor({TensorKind::activations, arenas_.layers.size()}, rows_ * shape.stride);
    const std::vector<float> targets = arenas_.tensor({TensorKind::targets}, rows_ * shape.targetWidth);
    std::vector<TargetWord> words(targets.size());
    std::memcpy(words.data(), targets.data(), targets.size() * sizeof(TargetWord));
    addScore(shape, outputs.data(), words.data());
}

} // namespace lockstep
