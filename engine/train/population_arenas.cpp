#include "engine/train/population_arenas.h"

#include <algorithm>
#include <numeric>

#include "engine/gpu/error.h"
#include "engine/net/param_layout.h"

namespace lockstep {

namespace {

constexpr std::uint64_t bytesBeside = 512; // of a network: settings, state, parts of scores, results, ranks
constexpr std::uint64_t bytesOnce = 65ull
                                    << 20; // orders of examples, and what else does not grow with networks

std::uint32_t number(auto value) { return static_cast<std::uint32_t>(value); }

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

void appendExamples(std::vector<float>& all, const Dataset& data, const Examples& examples,
                    const NetShape& shape) {
    const std::uint32_t kind = targetKind(data, shape);
    for (std::size_t example = 0; example < examples.count; ++example) {
        const auto inputs = examples.values.begin() + static_cast<std::ptrdiff_t>(example * shape.inputs());
        all.insert(all.end(), inputs, inputs + static_cast<std::ptrdiff_t>(shape.inputs()));
        for (std::size_t output = 0; output < shape.outputs(); ++output)
            all.push_back(wantedValue(data, examples, kind, example, output));
        all.resize((all.size() + exampleFloats(shape) - 1) / exampleFloats(shape) * exampleFloats(shape));
    }
}

std::vector<float> allExamples(const PopulationJob& job, Split split) {
    std::vector<float> all;
    for (const Dataset* data : job.data)
        appendExamples(all, *data, split == Split::train ? data->train : data->test, job.shape);
    return all;
}

std::uint64_t exampleBytes(const PopulationJob& job, std::size_t count) {
    return std::uint64_t{job.data.size()} * count * exampleFloats(job.shape) * sizeof(float);
}

std::uint64_t bytesOf(const PopulationJob& job, std::size_t networks) {
    const std::uint64_t arenas = 1 + job.settings.optimizer.stateArrays();
    return networks * (arenas * job.shape.parameters() * sizeof(float) + bytesBeside) + bytesOnce +
           exampleBytes(job, job.data.front()->train.count + job.data.front()->test.count);
}

std::vector<std::uint32_t> sortedByActivation(const PopulationJob& job) {
    std::vector<std::uint32_t> members(job.members.size());
    std::iota(members.begin(), members.end(), 0u);
    std::ranges::stable_sort(members, {},
                             [&](std::uint32_t member) { return number(job.members[member].activation); });
    return members;
}

std::vector<PopulationRun> runsOf(const PopulationJob& job, const std::vector<std::uint32_t>& members) {
    std::vector<PopulationRun> runs;
    for (std::uint32_t place = 0; place < members.size(); ++place) {
        const Activation activation = job.members[members[place]].activation;
        if (runs.empty() || runs.back().activation != activation) runs.push_back({activation, place, 0});
        ++runs.back().count;
    }
    return runs;
}

std::vector<std::uint32_t> inverseOf(const std::vector<std::uint32_t>& members) {
    std::vector<std::uint32_t> places(members.size());
    for (std::uint32_t place = 0; place < members.size(); ++place) places[members[place]] = place;
    return places;
}

std::vector<std::uint32_t> arenaIndicesOf(const NetShape& shape) {
    const ParamLayout layout(shape);
    std::vector<std::uint32_t> indices;
    for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
        const LayerLayout& place = layout.layer(layer);
        for (std::size_t o = 0; o < place.outputs; ++o)
            for (std::size_t i = 0; i < place.inputs; ++i)
                indices.push_back(number(place.weightOffset + o * place.rowStride + i));
        for (std::size_t o = 0; o < place.outputs; ++o) indices.push_back(number(place.biasOffset + o));
    }
    return indices;
}

shared::PopulationNetwork networkOf(const PopulationJob& job, std::uint32_t member) {
    const TrainSettings settings = job.alone(member).settings;
    const shared::UpdateParams update = stepSettings(settings, BatchOrder(), 0).update;
    const bool decoupled = settings.optimizer.kind == Optimizer::adamw;
    return {static_cast<float>(settings.optimizer.effectiveLearningRate()),
            update.momentum,
            update.l2,
            decoupled ? static_cast<float>(settings.optimizer.effectiveWeightDecay()) : 0.0f,
            number(settings.seed),
            number(settings.seed >> 32),
            number(job.members[member].data),
            member};
}

std::uint64_t arenaBytes(const PopulationJob& job) {
    return std::uint64_t{job.members.size()} * job.shape.parameters() * sizeof(float);
}

void requireExamplesToFit(const gpu::Device& device, const PopulationJob& job) {
    const Dataset& data = *job.data.front();
    const std::uint64_t bytes = exampleBytes(job, std::max(data.train.count, data.test.count));
    const std::uint64_t range = device.limits().storageRange;
    if (bytes <= range) return;
    throw gpu::OutOfMemoryError(std::to_string(job.data.size()) + " data sets of " +
                                    std::to_string(data.train.count) + " examples on '" +
                                    device.report().name + "' would bind " + std::to_string(bytes) +
                                    " bytes at once, it allows " + std::to_string(range) +
                                    "; try fewer examples, or fewer levels of noise",
                                bytes, range);
}

} // namespace

void requirePopulationMemory(const gpu::Device& device, const PopulationJob& job) {
    const std::uint64_t range = device.limits().storageRange;
    requireExamplesToFit(device, job);
    const std::uint64_t available = device.memoryLeft();
    const std::size_t networks = job.members.size();
    if (arenaBytes(job) <= range && bytesOf(job, networks) <= available) return;
    const std::uint64_t perNetwork = bytesOf(job, 1) - bytesOf(job, 0);
    const std::uint64_t bound = range / (job.shape.parameters() * sizeof(float));
    const std::uint64_t held = (available - std::min(available, bytesOf(job, 0))) / perNetwork;
    const std::uint64_t needed = bytesOf(job, networks);
    std::string message = std::to_string(networks) + " networks on '" + device.report().name + "' ";
    if (needed > available)
        message += "need about " + std::to_string(needed >> 20) + " MiB of its memory, " +
                   std::to_string(available >> 20) + " MiB are available. ";
    else
        message += "would bind " + std::to_string(arenaBytes(job)) + " bytes at once, it allows " +
                   std::to_string(range) + ". ";
    message += std::to_string(std::min(bound, held)) + " networks fit.";
    throw gpu::OutOfMemoryError(message, needed, available);
}

PopulationArenas::PopulationArenas(gpu::Device& device, const PopulationJob& job)
    : members(sortedByActivation(job)), places(inverseOf(members)), runs(runsOf(job, members)),
      train(device, exampleBytes(job, job.data.front()->train.count), gpu::Memory::device,
            "training examples"),
      networks(device, members.size() * sizeof(shared::PopulationNetwork), gpu::Memory::device, "networks"),
      states(device, members.size() * sizeof(shared::PopulationState), gpu::Memory::device, "states"),
      parameters(device, arenaBytes(job), gpu::Memory::device, "parameters of a population"),
      arenaIndices_(arenaIndicesOf(job.shape)) {
    train.uploadValues<float>(allExamples(job, Split::train));
    if (const std::size_t count = job.data.front()->test.count; count > 0) {
        test.emplace(device, exampleBytes(job, count), gpu::Memory::device, "test examples");
        test->uploadValues<float>(allExamples(job, Split::test));
    }
    const std::size_t kept = job.settings.optimizer.stateArrays();
    if (kept > 0) first.emplace(device, arenaBytes(job), gpu::Memory::device, "optimizer state 1");
    if (kept > 1) second.emplace(device, arenaBytes(job), gpu::Memory::device, "optimizer state 2");
    std::vector<shared::PopulationNetwork> settings;
    for (const std::uint32_t member : members) settings.push_back(networkOf(job, member));
    networks.uploadValues<shared::PopulationNetwork>(settings);
    reset(job);
}

void PopulationArenas::reset(const PopulationJob& job) {
    const std::size_t count = members.size();
    std::vector<float> columns(count * arenaIndices_.size());
    for (std::size_t place = 0; place < count; ++place) {
        const std::vector<float> arena = job.initialParameters(members[place]);
        for (std::size_t p = 0; p < arenaIndices_.size(); ++p)
            columns[p * count + place] = arena[arenaIndices_[p]];
    }
    parameters.uploadValues<float>(columns);
    if (first) first->uploadValues<float>(std::vector<float>(columns.size()));
    if (second) second->uploadValues<float>(std::vector<float>(columns.size()));
    states.uploadValues<shared::PopulationState>(
        std::vector<shared::PopulationState>(count, {0, 0, MemberResult::unknown}));
}

} // namespace lockstep
