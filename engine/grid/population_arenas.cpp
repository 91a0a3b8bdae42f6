#include "engine/grid/population_gpu.h"

#include <algorithm>

#include "engine/gpu/error.h"

namespace lockstep {

namespace {

constexpr std::uint64_t bytesBeside = 512;    // of a network: settings, state, results
constexpr std::uint64_t bytesOnce = 65 << 20; // orders of examples, and what else networks do not add to

using gpu::asUint;

std::size_t exampleFloats(const NetShape& shape) { return roundUpToFour(shape.inputs() + shape.outputs()); }

// What output `output` of an example is compared with (net/plain_loss.cpp).
float wantedValue(const Dataset& data, const Examples& examples, std::uint32_t kind, std::size_t example,
                  std::size_t output) {
    if (kind == shared::targetValues) return examples.targets[example * data.targetWidth + output];
    const std::uint32_t label = examples.labels[example];
    if (kind == shared::targetSign) return label == 1 ? 1.0f : -1.0f;
    if (kind == shared::targetBit) return label == 1 ? 1.0f : 0.0f;
    return label == output ? 1.0f : 0.0f;
}

std::vector<float> allExamples(const PopulationJob& job, Split split) {
    const std::size_t inputs = job.shape.inputs();
    std::vector<float> all;
    for (const Dataset* data : job.data) {
        const Examples& examples = data->of(split);
        const std::uint32_t kind = targetKind(*data, job.shape);
        for (std::size_t example = 0; example < examples.count; ++example) {
            const auto first = examples.values.begin() + static_cast<std::ptrdiff_t>(example * inputs);
            const std::size_t end = all.size() + exampleFloats(job.shape);
            all.insert(all.end(), first, first + static_cast<std::ptrdiff_t>(inputs));
            for (std::size_t output = 0; output < job.shape.outputs(); ++output)
                all.push_back(wantedValue(*data, examples, kind, example, output));
            all.resize(end);
        }
    }
    return all;
}

std::uint64_t exampleBytes(const PopulationJob& job, std::size_t count) {
    return std::uint64_t{job.data.size()} * count * exampleFloats(job.shape) * sizeof(float);
}

shared::PopulationNetwork networkOf(const PopulationJob& job, std::uint32_t member) {
    const TrainSettings settings = job.alone(member).settings;
    const shared::UpdateParams update = stepSettings(settings, BatchOrder(), 0).update;
    const bool decoupled = infoOf(settings.optimizer.kind).has(decouplesDecay);
    return {static_cast<float>(settings.optimizer.effectiveLearningRate()),
            update.momentum,
            update.l2,
            decoupled ? static_cast<float>(settings.optimizer.effectiveWeightDecay()) : 0.0f,
            asUint(settings.seed),
            asUint(settings.seed >> 32),
            asUint(job.members[member].data),
            member};
}

std::uint64_t arenaBytes(const PopulationJob& job, std::size_t networks) {
    return std::uint64_t{networks} * job.shape.parameters() * sizeof(float);
}

struct Bytes {
    std::uint64_t all = 0;
    std::uint64_t bound = 0; // at once, by a kernel
};

Bytes bytesOf(const gpu::Device& device, const PopulationJob& job, std::size_t networks) {
    const std::uint64_t arenas = 1 + job.settings.optimizer.stateArrays();
    const std::uint64_t parts = populationParts(device, job, networks).bytes(networks);
    const Dataset& data = *job.data.front();
    return {arenas * arenaBytes(job, networks) + networks * bytesBeside + parts + bytesOnce +
                exampleBytes(job, data.train.count + data.test.count),
            std::max(arenaBytes(job, networks), parts)};
}

bool fits(const gpu::Device& device, const PopulationJob& job, std::size_t networks) {
    const Bytes bytes = bytesOf(device, job, networks);
    return bytes.all <= device.memoryLeft() && bytes.bound <= device.limits().storageRange;
}

std::string mebibytes(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

std::string whatFits(const gpu::Device& device, const PopulationJob& job) {
    const std::size_t networks =
        largestBelow(job.members.size(), [&](std::size_t fewer) { return fits(device, job, fewer); });
    if (networks > 0) return std::to_string(networks) + (networks == 1 ? " network fits." : " networks fit.");
    return "Not even one fits: the examples, their orders and scores alone take about " +
           mebibytes(bytesOf(device, job, 1).all) + "; try fewer examples.";
}

void requireExamplesToFit(const gpu::Device& device, const PopulationJob& job) {
    const Dataset& data = *job.data.front();
    const std::uint64_t bytes = exampleBytes(job, std::max(data.train.count, data.test.count));
    const std::uint64_t range = device.limits().storageRange;
    if (bytes <= range) return;
    const std::uint64_t most = range / exampleBytes(job, 1);
    throw gpu::OutOfMemoryError(std::to_string(job.data.size()) + " data sets of " +
                                    std::to_string(std::max(data.train.count, data.test.count)) +
                                    " examples on '" + device.report().name + "' need a buffer of " +
                                    std::to_string(bytes) + " bytes; the limit is " + std::to_string(range) +
                                    "; data sets of " + std::to_string(most) +
                                    " examples fit, or fewer levels of noise",
                                bytes, range);
}

} // namespace

void requirePopulationMemory(const gpu::Device& device, const PopulationJob& job) {
    requireExamplesToFit(device, job);
    const std::size_t networks = job.members.size();
    if (fits(device, job, networks)) return;
    const std::uint64_t available = device.memoryLeft();
    const Bytes needed = bytesOf(device, job, networks);
    std::string message = std::to_string(networks) + " networks on '" + device.report().name + "' ";
    if (needed.all > available)
        message +=
            "need about " + mebibytes(needed.all) + " of its memory; " + mebibytes(available) + " are free. ";
    else
        message += "need a buffer of " + std::to_string(needed.bound) + " bytes; the limit is " +
                   std::to_string(device.limits().storageRange) + ". ";
    throw gpu::OutOfMemoryError(message + whatFits(device, job), needed.all, available);
}

PopulationArenas::PopulationArenas(gpu::Device& gpuDevice, const PopulationJob& population)
    : device(gpuDevice), job(population), kernels(device), places(job),
      arenaIndices(unpaddedParameters(job.shape)),
      train(device, exampleBytes(job, job.data.front()->train.count), gpu::Memory::device,
            "training examples"),
      networks(device, job.members.size() * sizeof(shared::PopulationNetwork), gpu::Memory::device,
               "networks"),
      states(device, job.members.size() * sizeof(shared::PopulationState), gpu::Memory::device, "states"),
      parameters(device, arenaBytes(job, job.members.size()), gpu::Memory::device,
                 "parameters of a population") {
    train.uploadValues<float>(allExamples(job, Split::train));
    if (const std::size_t count = job.data.front()->test.count; count > 0) {
        test.emplace(device, exampleBytes(job, count), gpu::Memory::device, "test examples");
        test->uploadValues<float>(allExamples(job, Split::test));
    }
    const std::size_t kept = job.settings.optimizer.stateArrays();
    if (kept > 0) first.emplace(device, parameters.size(), gpu::Memory::device, "optimizer state 1");
    if (kept > 1) second.emplace(device, parameters.size(), gpu::Memory::device, "optimizer state 2");
    std::vector<shared::PopulationNetwork> settings;
    for (const std::uint32_t member : places.members) settings.push_back(networkOf(job, member));
    networks.uploadValues<shared::PopulationNetwork>(settings);
    reset();
}

gpu::SpecConstants PopulationArenas::widthConstants(std::uint32_t groupSize) const {
    gpu::SpecConstants constants{{0, groupSize}, {9, asUint(job.shape.layers())}};
    for (std::uint32_t level = 0; level <= shared::populationLayers; ++level)
        constants[10 + level] = level < job.shape.widths.size() ? asUint(job.shape.widths[level]) : 0;
    return constants;
}

gpu::SpecConstants PopulationArenas::networkConstants(std::uint32_t groupSize, Activation hidden) const {
    gpu::SpecConstants constants = widthConstants(groupSize);
    constants.insert(
        {{1, asUint(job.shape.loss)}, {2, asUint(job.shape.outputActivation)}, {4, asUint(hidden)}});
    return constants;
}

std::string PopulationArenas::loopedIfLarge(const std::string& stem) const {
    return job.shape.parameters() <= registerNumbers(device) ? stem : stem + "_looped";
}

std::uint32_t PopulationArenas::atOnce(double workOfOne, double least) const {
    constexpr double most = 32768; // every device dispatches that many workgroups
    return asUint(std::clamp((device.software() ? 3e7 : 1e9) / workOfOne, least, most));
}

void PopulationArenas::reset() {
    const std::size_t count = places.members.size();
    std::vector<float> columns(count * arenaIndices.size());
    for (std::size_t place = 0; place < count; ++place) {
        const std::vector<float> arena = job.initialParameters(places.members[place]);
        for (std::size_t p = 0; p < arenaIndices.size(); ++p)
            columns[p * count + place] = arena[arenaIndices[p]];
    }
    parameters.uploadValues<float>(columns);
    for (std::optional<gpu::Buffer>* state : {&first, &second})
        if (*state) (*state)->uploadValues<float>(std::vector<float>(columns.size()));
    states.uploadValues<shared::PopulationState>(
        std::vector<shared::PopulationState>(count, {0, 0, MemberResult::unknown}));
}

} // namespace lockstep
