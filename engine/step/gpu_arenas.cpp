#include "engine/step/gpu_arenas.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "engine/net/float_formats.h"
#include "engine/net/param_layout.h"
#include "engine/plan/rounding.h"

namespace lockstep {

GpuExamples::GpuExamples(gpu::Device& device, const GpuMemory& memory, const Dataset& data,
                         const Examples& examples, RunBuffer inputs, RunBuffer answerBuffer)
    : count(examples.count), sourceStride(wordsPerExample(data)), source(device, memory.specOf(inputs)),
      answers(device, memory.specOf(answerBuffer)) {
    if (data.bytes())
        source.uploadValues<std::uint8_t>(
            withPadding<std::uint8_t>(examples.pixels, data.inputs, std::size_t{4} * sourceStride));
    else
        source.uploadValues<float>(withPadding<float>(examples.values, data.inputs, sourceStride));
    if (data.classes > 0)
        answers.uploadValues<std::uint32_t>(examples.labels);
    else
        answers.uploadValues<float>(examples.targets);
}

GpuArenas::GpuArenas(gpu::Device& device, const TrainJob& job, GpuMemory needed)
    : memory(std::move(needed)), shape(job.shape), layout(job.shape), order(job.order()),
      watch(job.exchange == nullptr ? nullptr : job.exchange->watch()),
      targetKind(lockstep::targetKind(*job.data, job.shape)),
      targetWidth(static_cast<std::uint32_t>(job.data->classes > 0 ? 1 : job.data->targetWidth)),
      pixels(job.data->bytes()), classes(job.data->classes), settings(job.settings),
      parameters(device, memory.specOf(RunBuffer::parameters)),
      gradients(device, memory.specOf(RunBuffer::gradients)),
      train(device, memory, *job.data, job.data->train, RunBuffer::trainInputs, RunBuffer::trainAnswers),
      losses(device, memory.specOf(RunBuffer::losses)), status(device, memory.specOf(RunBuffer::status)),
      lossPartials(device, memory.specOf(RunBuffer::lossPartials)),
      lastLayerPartials(device, memory.specOf(RunBuffer::lastLayerPartials)),
      targets(device, memory.specOf(RunBuffer::targets)),
      scoreSums(device, memory.specOf(RunBuffer::scoreSums)),
      scoreCounts(device, memory.specOf(RunBuffer::scoreCounts)),
      layerPlaces(device, memory.specOf(RunBuffer::layerPlaces)),
      activations_(device, memory.specOf(RunBuffer::activations)),
      sums_(device, memory.specOf(RunBuffer::sums)), dSums_(device, memory.specOf(RunBuffer::dSums)) {
    if (memory.has(RunBuffer::hostActivations))
        hostActivations_.emplace(device, memory.specOf(RunBuffer::hostActivations));
    if (memory.has(RunBuffer::weightCopies))
        weightCopies.emplace(device, memory.specOf(RunBuffer::weightCopies));
    if (memory.has(RunBuffer::largestOperands))
        largestOperands.emplace(device, memory.specOf(RunBuffer::largestOperands));
    for (const RunBuffer state : {RunBuffer::state1, RunBuffer::state2})
        if (memory.has(state)) optimizerState.emplace_back(device, memory.specOf(state));
    if (job.data->test.count > 0)
        test.emplace(device, memory, *job.data, job.data->test, RunBuffer::testInputs,
                     RunBuffer::testAnswers);
    if (memory.has(RunBuffer::stepRecords))
        stepRecords.emplace(device, memory.specOf(RunBuffer::stepRecords));
    if (memory.has(RunBuffer::exchanged)) exchanged.emplace(device, memory.specOf(RunBuffer::exchanged));
    if (job.exchange != nullptr && !settings.share.alone())
        ranks.emplace(*job.exchange, layout, job.settings.share);
    std::vector<float> initial = initialWeights(shape, job.settings.seed);
    roundStored(job.settings.precision, initial);
    parameters.uploadValues<float>(initial);
    lastLayerPartials.uploadValues<std::uint32_t>(
        std::vector<std::uint32_t>(1 + lastLayerGroups(memory.batch)));
    const std::uint32_t none = shared::noStep;
    status.uploadValues<std::uint32_t>({&none, 1});
}

std::vector<AllocatedBuffer> GpuArenas::buffers() const {
    std::vector<AllocatedBuffer> all = {{RunBuffer::activations, activations_},
                                        {RunBuffer::targets, targets},
                                        {RunBuffer::sums, sums_},
                                        {RunBuffer::dSums, dSums_},
                                        {RunBuffer::parameters, parameters},
                                        {RunBuffer::gradients, gradients},
                                        {RunBuffer::trainInputs, train.source},
                                        {RunBuffer::trainAnswers, train.answers},
                                        {RunBuffer::losses, losses},
                                        {RunBuffer::status, status},
                                        {RunBuffer::lossPartials, lossPartials},
                                        {RunBuffer::lastLayerPartials, lastLayerPartials},
                                        {RunBuffer::scoreSums, scoreSums},
                                        {RunBuffer::scoreCounts, scoreCounts},
                                        {RunBuffer::layerPlaces, layerPlaces}};
    if (hostActivations_) all.push_back({RunBuffer::hostActivations, *hostActivations_});
    if (weightCopies) all.push_back({RunBuffer::weightCopies, *weightCopies});
    if (largestOperands) all.push_back({RunBuffer::largestOperands, *largestOperands});
    const RunBuffer states[] = {RunBuffer::state1, RunBuffer::state2};
    for (std::size_t state = 0; state < optimizerState.size(); ++state)
        all.push_back({states[state], optimizerState[state]});
    if (test) {
        all.push_back({RunBuffer::testInputs, test->source});
        all.push_back({RunBuffer::testAnswers, test->answers});
    }
    if (stepRecords) all.push_back({RunBuffer::stepRecords, *stepRecords});
    if (exchanged) all.push_back({RunBuffer::exchanged, *exchanged});
    return all;
}

std::span<float> GpuArenas::exchangedFloats(std::size_t first, std::size_t layers) {
    const std::size_t begin = layout.layer(first).weightOffset;
    const std::size_t floats = layout.endOf(first + layers - 1) - begin;
    const auto bytes = exchanged.value().mappedToWrite(begin * sizeof(float), floats * sizeof(float));
    return {reinterpret_cast<float*>(bytes.data()), floats};
}

const GpuExamples& GpuArenas::examples(Split split) const {
    if (split == Split::train) return train;
    if (!test) throw std::invalid_argument("the data set has no test examples");
    return *test;
}

gpu::BufferView GpuArenas::view(const TensorTable& table, const TensorId& id, std::size_t rows) const {
    const StoredTensor& tensor = table.at(id);
    return arena(tensor.arena).view(tensor.offset, rows * tensor.stride * bytesOf(tensor.format));
}

gpu::BufferView GpuArenas::layerOf(const gpu::Buffer& arena, std::size_t layer) const {
    const LayerLayout& place = layout.layer(layer);
    const std::size_t end = place.biasOffset + place.biasCount();
    return arena.view(place.weightOffset * sizeof(float), (end - place.weightOffset) * sizeof(float));
}

const gpu::Buffer& GpuArenas::arena(TensorArena which) const {
    switch (which) {
    case TensorArena::activations: return activations_;
    case TensorArena::targets: return targets;
    case TensorArena::sums: return sums_;
    case TensorArena::dSums: return dSums_;
    case TensorArena::hostActivations: return hostActivations_.value();
    case TensorArena::parameters: return parameters;
    case TensorArena::gradients: return gradients;
    case TensorArena::state1: return optimizerState.at(0);
    case TensorArena::state2: return optimizerState.at(1);
    case TensorArena::weightCopies: return weightCopies.value();
    }
    throw std::invalid_argument("no such arena");
}

std::vector<float> GpuArenas::tensor(const TensorTable& table, const TensorId& id, std::size_t count) const {
    const StoredTensor& tensor = table.at(id);
    const gpu::Buffer& from = arena(tensor.arena);
    if (tensor.format == NumberFormat::fp32) return from.downloadValues<float>(count, tensor.offset);
    const std::vector<std::uint16_t> halves = from.downloadValues<std::uint16_t>(count, tensor.offset);
    std::vector<float> values(count);
    std::ranges::transform(halves, values.begin(), [](std::uint16_t half) { return fromFloat16(half); });
    return values;
}

} // namespace lockstep
