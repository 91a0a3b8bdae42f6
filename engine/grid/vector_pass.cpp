#include "engine/grid/vector_pass.h"

#include <algorithm>

#include "engine/net/activation.h"
#include "engine/net/param_layout.h"

namespace lockstep {

namespace {

/// Of the activations of one example.
std::size_t vectorsPerRow(const VectorPlan& plan) {
    std::size_t vectors = plan.job.shape.inputs();
    for (const VectorPlace& layer : plan.layers) vectors += 2 * layer.shape.outputs;
    return vectors;
}

} // namespace

VectorPlan::VectorPlan(const PopulationJob& populationJob, const CpuPopulationKernels& table)
    : job(populationJob), kernels(table), arenaFloats(ParamLayout(job.shape).size()),
      arenaIndices(unpaddedParameters(job.shape)),
      order(job.data.front()->train.count, job.settings.batch, 0, job.settings.shuffle),
      targetKind(lockstep::targetKind(*job.data.front(), job.shape)), pace(job.settings.optimizer) {
    pace.learningRate = 1;
    pace.weightDecay = 0;
    const bool corrects = infoOf(pace.kind).has(correctsBias);
    ratesChange = corrects || pace.schedule != Schedule::constant || pace.warmupSteps > 0;
    for (std::size_t l = 0; l < job.shape.layers(); ++l) {
        const PopulationShape shape{0, job.shape.widths[l], job.shape.widths[l + 1]};
        layers.push_back({shape, parameters});
        parameters += shape.outputs * (shape.inputs + 1);
    }
    // Half of a first-level cache: weights and gradients want the other half.
    constexpr std::size_t cacheFloats = 6144;
    const std::size_t rows = cacheFloats / (vectorsPerRow(*this) * kernels.elements) / 4 * 4;
    capacity = std::clamp<std::size_t>(rows, 4, 64);
}

VectorPass::VectorPass(const VectorPlan& plan, const NetShape& shape)
    : plan_(plan), shape_(shape), inputs_(plan.capacity * shape.inputs() * plan.kernels.elements),
      targets_(plan.capacity * plan.job.data.front()->targetWidth * plan.kernels.elements),
      gradients_(plan.parameters * plan.kernels.elements), examples_(orderedRows * plan.kernels.elements) {
    for (std::size_t l = 0; l < plan.layers.size(); ++l) {
        const std::size_t size = plan.capacity * plan.layers[l].shape.outputs * plan.kernels.elements;
        const bool keepsSums = derivativeNeedsSum(shape.activationOf(l));
        layers_.push_back({AlignedArray<float>(size), AlignedArray<float>(keepsSums ? size : 0),
                           AlignedArray<float>(size)});
    }
}

void VectorPass::order(const VectorExamples& from, const PopulationBatch& batch) {
    ordered_ = batch;
    epoch_ = from.epoch;
    plan_.kernels.orderExamples(batch, plan_.order.count(), from.keys, examples_.data());
}

void VectorPass::gather(const VectorExamples& from, const std::uint32_t* examples) {
    plan_.kernels.gatherExamples(from.data, rows_, from.alike, examples, inputs_.data(), targets_.data());
}

void VectorPass::takeBatch(const VectorExamples& from, std::size_t first, std::size_t rows) {
    rows_ = rows;
    const bool known =
        epoch_ == from.epoch && first >= ordered_.first && first + rows <= ordered_.first + ordered_.rows;
    if (!known)
        order(from, {first, std::min(orderedRows, plan_.order.count() - first), plan_.order.shuffles(),
                     from.alike});
    gather(from, examples_.data() + (first - ordered_.first) * (from.alike ? 1 : plan_.kernels.elements));
}

void VectorPass::takeRange(const VectorExamples& from, std::size_t first, std::size_t rows) {
    rows_ = rows;
    order(from, {first, rows, false, from.alike});
    gather(from, examples_.data());
}

void VectorPass::takePoints(const float* points, std::size_t rows) {
    rows_ = rows;
    for (std::size_t k = 0; k < rows * shape_.inputs(); ++k)
        std::fill_n(inputs_.data() + k * plan_.kernels.elements, plan_.kernels.elements, points[k]);
}

PopulationShape VectorPass::shapeOf(std::size_t layer) const {
    PopulationShape shape = plan_.layers[layer].shape;
    shape.rows = rows_;
    return shape;
}

void VectorPass::forward(const float* parameters) {
    const float* below = inputs_.data();
    for (std::size_t l = 0; l < layers_.size(); ++l) {
        Layer& layer = layers_[l];
        plan_.kernels.dense(shapeOf(l), below, parameters + plan_.layers[l].offset * plan_.kernels.elements,
                            shape_.activationOf(l), layer.outputs.data(),
                            layer.sums.size() > 0 ? layer.sums.data() : nullptr);
        below = layer.outputs.data();
    }
}

LossShape VectorPass::lossShape() const {
    LossShape shape;
    shape.rows = rows_;
    shape.outputs = shape_.outputs();
    shape.stride = shape_.outputs();
    shape.targetWidth = plan_.job.data.front()->targetWidth;
    shape.loss = shape_.loss;
    shape.targetKind = plan_.targetKind;
    shape.outputActivation = shape_.outputActivation;
    return shape;
}

void VectorPass::lossAndGradient(std::size_t terms, PopulationLosses& losses) {
    LossShape shape = lossShape();
    shape.scale = 1.0 / static_cast<double>(terms);
    plan_.kernels.lossAndGradient(shape, outputs(), saved(layers_.size() - 1), targets_.data(),
                                  layers_.back().dSums.data(), losses);
}

void VectorPass::backward(const float* parameters, bool add) {
    for (std::size_t l = layers_.size(); l-- > 0;) {
        const std::size_t offset = plan_.layers[l].offset * plan_.kernels.elements;
        const float* dSums = layers_[l].dSums.data();
        if (l > 0)
            plan_.kernels.denseBackwardInputs(shapeOf(l), dSums, parameters + offset,
                                              shape_.activationOf(l - 1), saved(l - 1),
                                              layers_[l - 1].dSums.data());
        const float* below = l > 0 ? layers_[l - 1].outputs.data() : inputs_.data();
        plan_.kernels.denseBackwardWeights(shapeOf(l), dSums, below, add, gradients_.data() + offset);
    }
}

void VectorPass::score(double* losses, std::uint64_t* correct) const {
    plan_.kernels.score(lossShape(), plan_.job.data.front()->classes, outputs(), targets_.data(), losses,
                        correct);
}

} // namespace lockstep
