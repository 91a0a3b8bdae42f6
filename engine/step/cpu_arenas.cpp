#include "engine/step/cpu_arenas.h"

#include <algorithm>

#include "engine/net/activation.h"
#include "engine/net/param_layout.h"

namespace lockstep {

namespace {

// This many rows per thread keep the products of an evaluation efficient and its activations in the caches.
constexpr std::size_t evaluationRowsPerThread = 128;

bool folds(const CpuKernels& kernels, const OptimizerSettings& optimizer) {
    return kernels.denseBackwardWeightsAndUpdate != nullptr && optimizer.kind == Optimizer::sgd &&
           optimizer.l1 == 0;
}

} // namespace

CpuArenas::CpuArenas(const TrainJob& job, const CpuKernels& kernelTable, std::size_t threads)
    : data(*job.data), shape(job.shape), optimizer(job.settings.optimizer), layout(job.shape),
      order(data.train.count, job.settings.batch, job.settings.seed, job.settings.shuffle),
      targetKind(lockstep::targetKind(data, shape)), kernels(kernelTable),
      foldsUpdate(folds(kernelTable, optimizer)),
      capacity(std::max(order.batch(), threads * evaluationRowsPerThread)), parameters(layout.size()),
      gradients(foldsUpdate ? 0 : layout.size()), inputs(capacity * layout.layer(0).rowStride),
      targets(capacity * data.targetWidth), partialLosses(threads) {
    std::ranges::copy(initialWeights(shape, job.settings.seed), parameters.data());
    for (std::size_t array = 0; array < optimizer.stateArrays(); ++array)
        optimizerState.emplace_back(layout.size());
    for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
        const std::size_t size = capacity * outputStride(layer);
        const bool keepsSums = derivativeNeedsSum(shape.activationOf(layer));
        layers.push_back({AlignedArray<float>(size), AlignedArray<float>(keepsSums ? size : 0),
                          AlignedArray<float>(size)});
    }
}

void CpuArenas::setOptimizer(const OptimizerSettings& settings) {
    const bool foldsNow = folds(kernels, settings);
    if (foldsNow != foldsUpdate) gradients = AlignedArray<float>(foldsNow ? 0 : layout.size());
    optimizer = settings;
    foldsUpdate = foldsNow;
}

const float* CpuArenas::saved(std::size_t layer) const {
    const bool needsSum = derivativeNeedsSum(shape.activationOf(layer));
    return needsSum ? layers[layer].sums.data() : layers[layer].outputs.data();
}

DenseShape CpuArenas::denseShape(std::size_t layer, std::size_t rows) const {
    const LayerLayout& place = layout.layer(layer);
    return {rows, place.inputs, place.outputs, place.rowStride, outputStride(layer)};
}

LossShape CpuArenas::lossShape(std::size_t rows, std::size_t batchRows) const {
    LossShape result;
    result.rows = rows;
    result.outputs = shape.outputs();
    result.stride = roundUpToFour(shape.outputs());
    result.targetWidth = data.targetWidth;
    result.loss = shape.loss;
    result.targetKind = targetKind;
    result.outputActivation = shape.outputActivation;
    result.scale = 1.0 / static_cast<double>(lossTerms(shape.loss, batchRows, shape.outputs()));
    return result;
}

float* CpuArenas::stateArray(std::size_t index) {
    return index < optimizerState.size() ? optimizerState[index].data() : nullptr;
}

} // namespace lockstep
