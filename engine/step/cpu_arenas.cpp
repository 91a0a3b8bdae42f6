#include "engine/step/cpu_arenas.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "engine/cpu/small_kernels.h"
#include "engine/plan/rewrites.h"
#include "engine/plan/rounding.h"

namespace lockstep {

namespace {

// This many rows per thread keep the products of an evaluation efficient and its activations in the caches.
constexpr std::size_t evaluationRowsPerThread = 128;

// Shares cut in sixteenths follow the speeds of cores to a few per cent, and still are whole tiles of most
// layers. One thread has nothing to divide.
constexpr std::size_t partsWorthDividing = 16;

// The update is folded where kernels add a scaled gradient to weights: the plain one of SGD without L1.
// Pieces of a batch add up gradients that are stored.
StepPlan planFor(const NetShape& shape, const CpuKernels& kernels, const OptimizerSettings& optimizer,
                 const TrainSettings& settings) {
    StepPlan plan = trainStep(shape);
    if (kernels.folds && optimizer.kind == Optimizer::sgd && optimizer.l1 == 0 && !settings.addsGradients())
        foldUpdate(plan);
    saveMemory(plan, shape, settings.memory, settings.share);
    roundOperands(plan, shape, settings.precision);
    return plan;
}

// A run that is to save memory evaluates no more rows at once than it trains.
std::size_t capacityFor(const TrainJob& job, std::size_t threads, bool byNeuron) {
    const std::size_t rows = job.pieceRows();
    if (byNeuron) return roundUpToGrain(rows);
    return job.settings.memory.changeSteps() ? rows : std::max(rows, threads * evaluationRowsPerThread);
}

TensorStorage storageFor(const TrainJob& job, std::size_t capacity, bool byNeuron) {
    return {.rows = capacity,
            .gradientRows = byNeuron ? capacity : job.pieceRows(),
            .targetWidth = job.data->targetWidth,
            .widthGrain = byNeuron ? roundUpToGrain(1) : 4,
            .reuse = job.settings.memory.shareMemory(),
            .share = job.settings.share};
}

std::size_t floatsOf(const TensorTable& tensors, TensorArena arena) {
    return tensors.arenaBytes(arena) / sizeof(float);
}

} // namespace

CpuMemory::CpuMemory(const TrainJob& job, const CpuKernels& kernels, std::size_t threads, bool byNeuron)
    : plan(planFor(job.shape, kernels, job.settings.optimizer, job.settings)), pieceRows(job.pieceRows()),
      capacity(capacityFor(job, threads, byNeuron)), storage(storageFor(job, capacity, byNeuron)),
      tensors(job.shape, job.settings.optimizer, plan, storage) {}

std::vector<MemoryUse> CpuMemory::uses() const {
    const auto host = [this](MemoryCategory category, std::initializer_list<TensorArena> arenas) {
        MemoryUse use{category, MemoryPlace::host, 0};
        for (const TensorArena arena : arenas) use.bytes += tensors.arenaBytes(arena);
        return use;
    };
    return {host(MemoryCategory::parameters, {TensorArena::parameters}),
            host(MemoryCategory::copies, {TensorArena::weightCopies}),
            host(MemoryCategory::gradients, {TensorArena::gradients}),
            host(MemoryCategory::optimizer, {TensorArena::state1, TensorArena::state2}),
            host(MemoryCategory::activations,
                 {TensorArena::activations, TensorArena::targets, TensorArena::sums, TensorArena::dSums})};
}

CpuArenas::CpuArenas(const TrainJob& job, const CpuKernels& kernelTable, std::size_t threads, bool perNeuron)
    : CpuMemory(job, kernelTable, threads, perNeuron), data(*job.data), shape(job.shape),
      optimizer(job.settings.optimizer), layout(job.shape), order(job.order()), settings(job.settings),
      targetKind(lockstep::targetKind(data, shape)), kernels(kernelTable), byNeuron(perNeuron),
      partsPerThread(threads == 1 ? 1 : partsWorthDividing),
      parameters(floatsOf(tensors, TensorArena::parameters)),
      gradients(floatsOf(tensors, TensorArena::gradients)),
      weightCopies(floatsOf(tensors, TensorArena::weightCopies)),
      activations(floatsOf(tensors, TensorArena::activations)), sums(floatsOf(tensors, TensorArena::sums)),
      dSums(floatsOf(tensors, TensorArena::dSums)), targets(floatsOf(tensors, TensorArena::targets)),
      work(sizesOf(shape, optimizer, data)), partialLosses(threads * partsPerThread) {
    countWork();
    if (job.exchange != nullptr && !settings.share.alone())
        ranks.emplace(*job.exchange, layout, settings.share);
    if (scales(settings.precision)) largestParts.resize(scaleSlots(shape.layers()) * parts());
    std::ranges::copy(initialWeights(shape, settings.seed), parameters.data());
    roundStored(settings.precision, {parameters.data(), parameters.size()});
    for (std::size_t array = 0; array < optimizer.stateArrays(); ++array)
        optimizerState.emplace_back(ranks ? ranks->shards().stateSize() : layout.size());
    placeLayers();
}

void CpuArenas::placeLayers() {
    inputs = at(activations, {TensorKind::activations, 0});
    layers.clear();
    for (std::size_t layer = 0; layer < shape.layers(); ++layer)
        layers.push_back(
            {at(activations, {TensorKind::activations, layer + 1}),
             tensors.has({TensorKind::sums, layer}) ? at(sums, {TensorKind::sums, layer}) : nullptr,
             at(dSums, {TensorKind::dSums, layer})});
}

void CpuArenas::setOptimizer(const OptimizerSettings& other) {
    StepPlan now = planFor(shape, kernels, other, settings); // what can throw comes before the first change
    TensorTable table(shape, other, now, storage);
    const std::size_t floats = floatsOf(table, TensorArena::gradients);
    if (floats != gradients.size()) gradients = AlignedArray<float>(floats);
    optimizer = other;
    tensors = std::move(table);
    plan = std::move(now);
    placeLayers();
    work = StepWork(sizesOf(shape, optimizer, data));
    countWork();
}

void CpuArenas::countWork() {
    for (const std::size_t batch : {order.batch(), order.range(order.stepsPerEpoch() - 1).rows}) {
        const std::size_t pieces = std::min(settings.pieces(), batch);
        work.count(plan, batch / pieces);
        work.count(plan, (batch + pieces - 1) / pieces);
    }
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

const float* CpuArenas::weights(std::size_t layer, const PlannedOperation* operation) const {
    if (operation == nullptr || !operation->rounded)
        return parameters.data() + layout.layer(layer).weightOffset;
    return weightCopies.data() + tensors.at({TensorKind::weightCopies, layer}).offset / sizeof(float);
}

float* CpuArenas::stateArray(std::size_t index) {
    return index < optimizerState.size() ? optimizerState[index].data() : nullptr;
}

std::vector<MemoryUse> CpuArenas::memory() const {
    std::vector<MemoryUse> all;
    const auto add = [&all](MemoryCategory category, const auto& array) {
        addUse(all, {category, MemoryPlace::host, array.span().size_bytes()});
    };
    add(MemoryCategory::parameters, parameters);
    add(MemoryCategory::copies, weightCopies);
    add(MemoryCategory::gradients, gradients);
    for (const AlignedArray<float>& state : optimizerState) add(MemoryCategory::optimizer, state);
    for (const AlignedArray<float>* const array : {&activations, &sums, &dSums})
        add(MemoryCategory::activations, *array);
    add(MemoryCategory::activations, targets);
    return all;
}

const void* CpuArenas::arena(TensorArena which) const {
    switch (which) {
    case TensorArena::activations: return activations.data();
    case TensorArena::targets: return targets.data();
    case TensorArena::sums: return sums.data();
    case TensorArena::dSums: return dSums.data();
    case TensorArena::parameters: return parameters.data();
    case TensorArena::gradients: return gradients.data();
    case TensorArena::state1: return optimizerState.at(0).data();
    case TensorArena::state2: return optimizerState.at(1).data();
    case TensorArena::weightCopies: return weightCopies.data();
    case TensorArena::hostActivations: break; // a device's
    }
    throw std::invalid_argument("no such arena");
}

std::vector<float> CpuArenas::tensor(const TensorId& id, std::size_t floats) const {
    const StoredTensor& stored = tensors.at(id);
    const auto* from = static_cast<const std::byte*>(arena(stored.arena)) + stored.offset;
    std::vector<float> result(floats);
    if (!byNeuron || !ofBatch(stored.arena)) {
        std::memcpy(result.data(), from, floats * sizeof(float));
        return result;
    }
    const std::size_t width = stored.columns;
    const std::size_t stride = stored.arena == TensorArena::targets ? width : roundUpToFour(width);
    for (std::size_t at = 0; at < floats; ++at)
        if (at % stride < width)
            std::memcpy(&result[at], from + (at % stride * capacity + at / stride) * sizeof(float),
                        sizeof(float));
    return result;
}

} // namespace lockstep
