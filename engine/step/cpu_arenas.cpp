#include "engine/step/cpu_arenas.h"

#include <algorithm>
#include <cstring>

#include "engine/cpu/small_kernels.h"
#include "engine/net/activation.h"
#include "engine/plan/rewrites.h"

namespace lockstep {

namespace {

// This many rows per thread keep the products of an evaluation efficient and its activations in the caches.
constexpr std::size_t evaluationRowsPerThread = 128;

// Shares cut in sixteenths follow the speeds of cores to a few per cent, and still are whole tiles of most
// layers. One thread has nothing to divide.
constexpr std::size_t partsWorthDividing = 16;

// The update is folded where kernels add a scaled gradient to weights: the plain one of SGD without L1.
StepPlan planFor(const NetShape& shape, const CpuKernels& kernels, const OptimizerSettings& optimizer) {
    StepPlan plan = trainStep(shape);
    if (kernels.folds && optimizer.kind == Optimizer::sgd && optimizer.l1 == 0) foldUpdate(plan);
    return plan;
}

bool storesGradients(const StepPlan& plan) { return plan.has(Operation::denseBackwardWeights); }

} // namespace

CpuArenas::CpuArenas(const TrainJob& job, const CpuKernels& kernelTable, std::size_t threads, bool perNeuron)
    : data(*job.data), shape(job.shape), optimizer(job.settings.optimizer), layout(job.shape),
      order(job.order()), targetKind(lockstep::targetKind(data, shape)), kernels(kernelTable),
      byNeuron(perNeuron), partsPerThread(threads == 1 ? 1 : partsWorthDividing),
      plan(planFor(shape, kernelTable, optimizer)),
      capacity(byNeuron ? roundUpToGrain(order.batch())
                        : std::max(order.batch(), threads * evaluationRowsPerThread)),
      parameters(layout.size()), gradients(storesGradients(plan) ? layout.size() : 0),
      inputs(capacity * paddedWidth(0)), targets(capacity * data.targetWidth),
      work(sizesOf(shape, optimizer, data)), partialLosses(threads * partsPerThread) {
    countWork();
    std::ranges::copy(initialWeights(shape, job.settings.seed), parameters.data());
    for (std::size_t array = 0; array < optimizer.stateArrays(); ++array)
        optimizerState.emplace_back(layout.size());
    for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
        const std::size_t size = capacity * paddedWidth(layer + 1);
        const bool keepsSums = derivativeNeedsSum(shape.activationOf(layer));
        layers.push_back({AlignedArray<float>(size),
                          keepsSums ? AlignedArray<float>(size) : AlignedArray<float>(),
                          AlignedArray<float>(size)});
    }
}

void CpuArenas::setOptimizer(const OptimizerSettings& settings) {
    StepPlan now = planFor(shape, kernels, settings);
    if (storesGradients(now) != storesGradients(plan))
        gradients = AlignedArray<float>(storesGradients(now) ? layout.size() : 0);
    optimizer = settings;
    plan = std::move(now);
    work = StepWork(sizesOf(shape, optimizer, data));
    countWork();
}

void CpuArenas::countWork() {
    work.count(plan, order.batch());
    work.count(plan, order.range(order.stepsPerEpoch() - 1).rows);
}

std::size_t CpuArenas::paddedWidth(std::size_t level) const {
    return byNeuron ? roundUpToGrain(shape.widths[level]) : roundUpToFour(shape.widths[level]);
}

LossShape CpuArenas::lossShape(std::size_t rows, std::size_t batchRows) const {
    return {.rows = rows,
            .outputs = shape.outputs(),
            .stride = roundUpToFour(shape.outputs()),
            .targetWidth = data.targetWidth,
            .loss = shape.loss,
            .targetKind = targetKind,
            .outputActivation = shape.outputActivation,
            .scale = 1.0 / static_cast<double>(lossTerms(shape.loss, batchRows, shape.outputs()))};
}

float* CpuArenas::stateArray(std::size_t index) {
    return index < optimizerState.size() ? optimizerState[index].data() : nullptr;
}

std::vector<float> CpuArenas::trained(const TensorId& id, std::size_t floats) const {
    const TensorRow& row = rowOf(id.kind);
    const LayerLayout& place = layout.layer(id.layer);
    const AlignedArray<float>& arena = row.arena == TensorArena::parameters  ? parameters
                                       : row.arena == TensorArena::gradients ? gradients
                                       : row.arena == TensorArena::state1    ? optimizerState[0]
                                                                             : optimizerState[1];
    const float* from = arena.data() + (row.vector ? place.biasOffset : place.weightOffset);
    return {from, from + floats};
}

std::vector<float> CpuArenas::tensor(const TensorId& id, std::size_t floats) const {
    if (rowOf(id.kind).arena != TensorArena::batch) return trained(id, floats);
    const bool words = id.kind == TensorKind::targets;
    const bool level = id.kind == TensorKind::activations; // A[0] is the inputs, A[l + 1] layer l's outputs
    const void* from = words                          ? static_cast<const void*>(targets.data())
                       : level                        ? below(id.layer)
                       : id.kind == TensorKind::dSums ? layers[id.layer].dSums.data()
                                                      : layers[id.layer].sums.data();
    std::vector<float> result(floats);
    if (!byNeuron) {
        std::memcpy(result.data(), from, floats * sizeof(float));
        return result;
    }
    const std::size_t width = words ? data.targetWidth : shape.widths[level ? id.layer : id.layer + 1];
    const std::size_t stride = words ? width : roundUpToFour(width);
    for (std::size_t at = 0; at < floats; ++at)
        if (at % stride < width)
            std::memcpy(&result[at], static_cast<const float*>(from) + at % stride * capacity + at / stride,
                        sizeof(float));
    return result;
}

} // namespace lockstep
