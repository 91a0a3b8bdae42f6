#include "engine/step/small_ops.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace lockstep {

namespace {

constexpr std::size_t orderedAhead = 512; // positions, besides a batch

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
    : CpuBackend(arenas, &timing), kernels_(kernels), shapes_(arenas.shape.layers()),
      chosen_(arenas.capacity + orderedAhead) {}

void SmallOps::takeRows(std::size_t rows) {
    if (rows == rows_) return;
    rows_ = rows;
    for (std::size_t layer = 0; layer < shapes_.size(); ++layer) {
        const LayerLayout& place = arenas_.layout.layer(layer);
        shapes_[layer] = {rows, place.inputs, place.outputs, place.rowStride, arenas_.capacity};
    }
    lossShape_ = arenas_.lossShape(rows, rows);
    lossShape_.stride = arenas_.capacity;
}

void SmallOps::gather(const Examples& examples, const std::uint32_t* chosen, std::size_t rows) {
    takeRows(rows);
    kernels_.gatherBatch(arenas_.data, examples, chosen, rows, arenas_.capacity, arenas_.inputs,
                         arenas_.targets.data());
}

// One batch alone would leave most elements of a vector unused, and wait for its multiplications.
const std::uint32_t* SmallOps::chosenBy(const BatchRange& batch) {
    const bool known = batch.epoch == ordered_.epoch && batch.first >= ordered_.first &&
                       batch.first + batch.rows <= ordered_.first + ordered_.rows;
    if (!known) {
        ordered_ = {batch.epoch, batch.first,
                    std::min(chosen_.size(), arenas_.data.train.count - batch.first)};
        kernels_.orderExamples(batch.first, ordered_.rows, arenas_.data.train.count,
                               arenas_.order.keys(batch.epoch), chosen_.data());
    }
    return chosen_.data() + (batch.first - ordered_.first);
}

void SmallOps::gatherBatch(const StepSettings& step) {
    if (arenas_.order.shuffles())
        gather(arenas_.data.train, chosenBy(step.batch), step.batch.rows);
    else
        gatherRange(Split::train, step.batch.first, step.batch.rows);
    lap();
}

void SmallOps::gatherRange(Split split, std::size_t first, std::size_t rows) {
    std::iota(chosen_.begin(), chosen_.begin() + static_cast<std::ptrdiff_t>(rows),
              static_cast<std::uint32_t>(first));
    ordered_.rows = 0;
    gather(arenas_.data.of(split), chosen_.data(), rows);
}

void SmallOps::dense(std::size_t layer) {
    const LayerLayout& place = arenas_.layout.layer(layer);
    const float* parameters = arenas_.parameters.data();
    kernels_.dense(shapes_[layer], arenas_.below(layer), parameters + place.weightOffset,
                   parameters + place.biasOffset, arenas_.shape.activationOf(layer),
                   arenas_.layers[layer].outputs, arenas_.layers[layer].sums);
    lap();
}

void SmallOps::lossAndGradient(const StepSettings&) {
    LayerArrays& last = arenas_.layers.back();
    setLoss(
        kernels_.lossAndGradient(lossShape_, last.outputs, last.saved(), arenas_.targets.data(), last.dSums),
        rows_);
    lap();
}

void SmallOps::denseBackwardInputs(std::size_t layer) {
    if (failed_) return;
    kernels_.denseBackwardInputs(shapes_[layer], arenas_.layers[layer].dSums,
                                 arenas_.parameters.data() + arenas_.layout.layer(layer).weightOffset,
                                 arenas_.shape.activationOf(layer - 1), arenas_.layers[layer - 1].saved(),
                                 arenas_.layers[layer - 1].dSums);
    lap();
}

void SmallOps::addWeightGradient(std::size_t layer, float keep, float scale, float* target) {
    if (failed_) return;
    const LayerLayout& place = arenas_.layout.layer(layer);
    kernels_.addWeightGradient(shapes_[layer], arenas_.layers[layer].dSums, arenas_.below(layer), keep, scale,
                               target, target + (place.biasOffset - place.weightOffset));
    lap();
}

void SmallOps::update(const StepSettings& step, std::size_t first, std::size_t layers) {
    if (failed_) return;
    arenas_.kernels.update(arenas_.optimizer.kind, step.update, arenas_.layout.layer(first).weightOffset,
                           arenas_.layout.endOf(first + layers - 1), arenas_.gradients.data(),
                           arenas_.parameters.data(), arenas_.stateArray(0), arenas_.stateArray(1));
    lap();
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
