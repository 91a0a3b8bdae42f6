#include "engine/step/gpu_arenas.h"

#include <algorithm>

#include "engine/gpu/error.h"
#include "engine/net/activation.h"
#include "engine/net/param_layout.h"
#include "engine/plan/work.h"
#include "engine/step/kernels.h"

namespace lockstep {

namespace {

constexpr std::uint64_t viewAlignment = 256; // the largest storage-buffer alignment a device may ask for
constexpr std::size_t evaluationRows = 2048; // at most, when the batch is smaller: enough to keep a GPU busy

std::uint64_t align(std::uint64_t bytes) {
    return (bytes + viewAlignment - 1) / viewAlignment * viewAlignment;
}

std::uint32_t wordsPerExample(const Dataset& data) {
    const std::size_t words = data.bytes() ? (data.inputs + 3) / 4 : data.inputs;
    return static_cast<std::uint32_t>(roundUpToFour(words));
}

// Rows padded with zeros to `stride` values.
template <class T> std::vector<T> padRows(const std::vector<T>& rows, std::size_t width, std::size_t stride) {
    if (width == stride) return rows;
    const std::size_t count = rows.size() / width;
    std::vector<T> padded(count * stride);
    for (std::size_t row = 0; row < count; ++row)
        std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(row * width), width,
                    padded.begin() + static_cast<std::ptrdiff_t>(row * stride));
    return padded;
}

// A batch, or a chunk of an evaluation: no more rows than the device can bind of the widest layer, in any
// way.
std::size_t capacityFor(const gpu::Device& device, const TrainJob& job, std::size_t requestedBatch) {
    const std::size_t batch = std::min(requestedBatch, job.data->train.count);
    const std::uint64_t range = std::min(device.limits().storageRange, device.limits().texelRange);
    const std::size_t bindable = range / (roundUpToFour(job.shape.widest()) * sizeof(float));
    const std::size_t chunk = std::min(evaluationRows, std::max(job.data->train.count, job.data->test.count));
    return std::max(batch, std::min(chunk, bindable));
}

std::vector<std::uint64_t> offsets(const NetShape& shape, std::size_t firstLevel, std::size_t rows) {
    std::vector<std::uint64_t> result{0};
    for (std::size_t level = firstLevel; level < shape.widths.size(); ++level)
        result.push_back(result.back() + align(rows * roundUpToFour(shape.widths[level]) * sizeof(float)));
    return result;
}

std::uint64_t arenaBytes(const ParamLayout& layout) { return layout.size() * sizeof(float); }

// Hits, and the confusion matrix.
std::uint64_t scoreCountBytes(std::size_t classes) {
    return (1 + std::uint64_t{classes} * classes) * sizeof(std::uint32_t);
}

// Sums of losses that an evaluation leaves behind: one per workgroup, of at most rowsPerGroup rows.
std::size_t scoreGroups(const TrainJob& job, std::size_t capacity) {
    const std::size_t rows = std::min<std::size_t>(Kernels::rowsPerGroup, capacity);
    return std::max(job.data->train.count, job.data->test.count) / rows + 1;
}

// Bytes of device memory that training with batches of `batch` rows takes, within a few percent.
std::uint64_t deviceBytes(const gpu::Device& device, const TrainJob& job, std::size_t batch, bool half) {
    const Dataset& data = *job.data;
    const std::uint64_t rows = capacityFor(device, job, batch);
    std::uint64_t floatsPerRow = 0;
    for (std::size_t level = 0; level < job.shape.widths.size(); ++level) {
        const std::uint64_t width = roundUpToFour(job.shape.widths[level]);
        const bool sums = level > 0 && anyLayerKeepsSums(job.shape);
        floatsPerRow += width * (1 + (level > 0 ? 1 : 0) + (sums ? 1 : 0));
    }
    const std::uint64_t arenas = 2 + job.settings.optimizer.stateArrays(); // weights, gradients, state
    const std::uint64_t examples = data.train.count + data.test.count;
    const std::uint64_t halves = half ? arenaBytes(ParamLayout(job.shape)) / 2 : 0;
    return halves + arenas * arenaBytes(ParamLayout(job.shape)) + rows * floatsPerRow * sizeof(float) +
           examples * 4 * (wordsPerExample(data) + data.targetWidth) + GpuArenas::ringSlots * sizeof(float) +
           scoreCountBytes(data.classes);
}

// Bytes of a batch's values of the widest layer, which are bound at once.
std::uint64_t widestBytes(const TrainJob& job, std::size_t batch) {
    return std::uint64_t{batch} * roundUpToFour(job.shape.widest()) * sizeof(float);
}

// What is bound as a whole has to fit into one binding, and what one invocation does has to end.
void requireLimits(const gpu::Device& device, const TrainJob& job) {
    const std::uint64_t range = device.limits().storageRange;
    const auto require = [&](std::uint64_t bytes, const char* what, const char* hint) {
        if (bytes > range)
            throw gpu::GpuError(std::string(what) + " take " + std::to_string(bytes) + " bytes, and '" +
                                device.report().name + "' binds at most " + std::to_string(range) +
                                " at once. " + hint);
    };
    require(std::max(job.data->train.count, job.data->test.count) * 4 * wordsPerExample(*job.data),
            "the examples", "Try fewer of them.");
    require(arenaBytes(ParamLayout(job.shape)), "the parameters", "Try narrower layers.");
    require(scoreCountBytes(job.data->classes), "the confusion matrix", "Try fewer classes.");
    if (!device.software()) return;
    const auto atMost = [](std::size_t value, std::size_t most, const char* what) {
        if (value > most)
            throw gpu::GpuError("software Vulkan computes at most " + std::to_string(most) + " " + what +
                                " correctly; this network has " + std::to_string(value) + "; use a CPU lane");
    };
    atMost(job.shape.outputs(), 13000, "outputs"); // the loss goes five times over a row's
    atMost(job.shape.widest(), softwareLoopRounds, "neurons in a layer");
}

// A batch has no more: one workgroup has at least 8 rows of them, and a weight gradient goes over all rows in
// fours.
std::size_t mostRows(const gpu::Device& device) {
    const std::size_t dispatched = std::size_t{8} * device.limits().groupCount[1];
    return device.software() ? std::min(dispatched, softwareLoopRounds + 1) : dispatched;
}

} // namespace

void requireMemory(const gpu::Device& device, const TrainJob& job, bool half) {
    requireLimits(device, job);
    const std::uint64_t available = device.memoryLeft();
    const std::uint64_t range = device.limits().storageRange;
    const std::size_t most = mostRows(device);
    const auto fits = [&](std::size_t batch) {
        return deviceBytes(device, job, batch, half) <= available && widestBytes(job, batch) <= range &&
               batch <= most;
    };
    std::size_t batch = std::min(job.settings.batch, job.data->train.count);
    if (fits(batch)) return;
    const std::uint64_t needed = deviceBytes(device, job, batch, half);
    std::string message = "training on '" + device.report().name + "' ";
    if (needed > available)
        message += "needs about " + std::to_string(needed >> 20) + " MiB of its memory; " +
                   std::to_string(available >> 20) + " MiB are free. ";
    else if (batch > most)
        message += "cannot compute " + std::to_string(batch) + " rows at once correctly, only " +
                   std::to_string(most) + ". ";
    else
        message += "needs a buffer of " + std::to_string(widestBytes(job, batch)) + " bytes; the limit is " +
                   std::to_string(range) + ". ";
    while (batch > 1 && !fits(batch)) batch /= 2;
    message += fits(batch) ? "A batch of " + std::to_string(batch) + " fits."
                           : "No batch fits: try narrower layers, or fewer of them.";
    throw gpu::OutOfMemoryError(message, needed, available);
}

GpuExamples::GpuExamples(gpu::Device& device, const Dataset& data, const Examples& examples, const char* name)
    : count(examples.count), sourceStride(wordsPerExample(data)),
      source(device, std::uint64_t{4} * sourceStride * count, gpu::Memory::device,
             std::string(name) + " examples"),
      answers(device, (examples.labels.size() + examples.targets.size()) * 4, gpu::Memory::device,
              std::string(name) + " answers") {
    if (data.bytes())
        source.uploadValues<std::uint8_t>(
            padRows(examples.pixels, data.inputs, std::size_t{4} * sourceStride));
    else
        source.uploadValues<float>(padRows(examples.values, data.inputs, sourceStride));
    if (data.classes > 0)
        answers.uploadValues<std::uint32_t>(examples.labels);
    else
        answers.uploadValues<float>(examples.targets);
}

GpuArenas::GpuArenas(gpu::Device& device, const TrainJob& job)
    : shape(job.shape), layout(job.shape), order(job.order()),
      targetKind(lockstep::targetKind(*job.data, job.shape)),
      targetWidth(static_cast<std::uint32_t>(job.data->classes > 0 ? 1 : job.data->targetWidth)),
      pixels(job.data->bytes()), classes(job.data->classes),
      capacity(capacityFor(device, job, job.settings.batch)),
      parameters(device, arenaBytes(layout), gpu::Memory::device, "parameters"),
      gradients(device, arenaBytes(layout), gpu::Memory::device, "gradients"),
      train(device, *job.data, job.data->train, "training"),
      losses(device, ringSlots * sizeof(float), gpu::Memory::readback, "losses"),
      status(device, sizeof(std::uint32_t), gpu::Memory::device, "status"),
      lossPartials(device, (capacity / Kernels::rowsPerGroup + 1) * sizeof(float), gpu::Memory::device,
                   "loss partials"),
      lastLayerPartials(device, (1 + lastLayerGroups(capacity)) * sizeof(float), gpu::Memory::device,
                        "last layer's partials"),
      targets(device, capacity * targetWidth * sizeof(std::uint32_t), gpu::Memory::device, "targets"),
      scoreSums(device, scoreGroups(job, capacity) * sizeof(float), gpu::Memory::readback, "score sums"),
      scoreCounts(device, scoreCountBytes(classes), gpu::Memory::readback, "score counts"),
      activationOffsets_(offsets(shape, 0, capacity)), dSumOffsets_(offsets(shape, 1, capacity)),
      activations_(device, activationOffsets_.back(), gpu::Memory::device, "activations"),
      sums_(device, anyLayerKeepsSums(shape) ? dSumOffsets_.back() : 16, gpu::Memory::device,
            "preactivations"),
      dSums_(device, dSumOffsets_.back(), gpu::Memory::device, "gradients of preactivations") {
    for (std::size_t array = 0; array < job.settings.optimizer.stateArrays(); ++array)
        optimizerState.emplace_back(device, arenaBytes(layout), gpu::Memory::device,
                                    "optimizer state " + std::to_string(array + 1));
    if (job.data->test.count > 0) test.emplace(device, *job.data, job.data->test, "test");
    parameters.uploadValues<float>(initialWeights(shape, job.settings.seed));
    lastLayerPartials.uploadValues<std::uint32_t>(std::vector<std::uint32_t>(1 + lastLayerGroups(capacity)));
    const std::uint32_t none = shared::noStep;
    status.uploadValues<std::uint32_t>({&none, 1});
}

const GpuExamples& GpuArenas::examples(Split split) const {
    if (split == Split::train) return train;
    if (!test) throw std::invalid_argument("the data set has no test examples");
    return *test;
}

gpu::BufferView GpuArenas::activations(std::size_t level, std::size_t rows) const {
    return activations_.view(activationOffsets_[level], rows * stride(level) * sizeof(float));
}

gpu::BufferView GpuArenas::sums(std::size_t layer, std::size_t rows) const {
    if (!derivativeNeedsSum(shape.activationOf(layer))) return activations(layer + 1, rows);
    return sums_.view(dSumOffsets_[layer], rows * stride(layer + 1) * sizeof(float));
}

gpu::BufferView GpuArenas::dSums(std::size_t layer, std::size_t rows) const {
    return dSums_.view(dSumOffsets_[layer], rows * stride(layer + 1) * sizeof(float));
}

gpu::BufferView GpuArenas::layerOf(const gpu::Buffer& arena, std::size_t layer) const {
    const LayerLayout& place = layout.layer(layer);
    const std::size_t end = place.biasOffset + place.biasCount();
    return arena.view(place.weightOffset * sizeof(float), (end - place.weightOffset) * sizeof(float));
}

std::vector<float> GpuArenas::tensor(const TensorId& id, std::size_t floats) const {
    const auto from = [floats](const gpu::Buffer& buffer, std::size_t offset) {
        return buffer.downloadValues<float>(floats, offset);
    };
    if (id.kind == TensorKind::targets) return from(targets, 0);
    if (id.kind == TensorKind::activations) return from(activations_, activationOffsets_[id.layer]);
    if (id.kind == TensorKind::sums) return from(sums_, dSumOffsets_[id.layer]);
    if (id.kind == TensorKind::dSums) return from(dSums_, dSumOffsets_[id.layer]);
    const TensorRow& row = rowOf(id.kind);
    const LayerLayout& place = layout.layer(id.layer);
    const gpu::Buffer& arena = row.arena == TensorArena::parameters  ? parameters
                               : row.arena == TensorArena::gradients ? gradients
                               : row.arena == TensorArena::state1    ? optimizerState[0]
                                                                     : optimizerState[1];
    return from(arena, (row.vector ? place.biasOffset : place.weightOffset) * sizeof(float));
}

} // namespace lockstep
