#include "engine/grid/population_gpu.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "engine/net/param_layout.h"
#include "engine/net/plain_ops.h"
#include "engine/step/work.h"

namespace lockstep {

namespace {

using gpu::asUint;

// Multiplications and additions of all networks together that a submission may do, so that no caller waits
// long for the device.
double workAtOnce(const gpu::Device& device) { return device.software() ? 3e7 : 1e9; }

// Rounds that an invocation's loops make for four examples where none is unrolled.
std::size_t roundsOfFour(const NetShape& shape) {
    std::size_t rounds =
        8 * loopRounds(shape.outputs()) + 4 * loopRounds(shape.inputs()); // losses; gathering
    for (std::size_t layer = 0; layer < shape.layers(); ++layer)
        rounds += loopRounds(shape.widths[layer + 1], loopRounds(shape.widths[layer]));
    return rounds;
}

template <class T> std::vector<T> mappedValues(const gpu::Buffer& buffer, std::size_t count) {
    std::vector<T> values(count);
    std::memcpy(values.data(), buffer.mapped().data(), count * sizeof(T));
    return values;
}

// Examples that one invocation scores at most: that every driver's loops have the rounds for, or that end
// soon enough.
std::size_t mostRows(const gpu::Device& device, const NetShape& shape) {
    if (device.software()) return mostLoopRounds / (1 + roundsOfFour(shape)) * 4;
    return mostWorkOfInvocation / shape.parameters() / 4 * 4;
}

std::size_t examplesOf(const PopulationJob& job) {
    const Dataset& data = *job.data.front();
    return data.of(evaluatedSplit(data)).count;
}

} // namespace

// Few networks are divided further, so that a GPU has enough to do.
PopulationParts populationParts(const gpu::Device& device, const PopulationJob& job, std::size_t networks) {
    constexpr std::size_t busyInvocations = 16384;
    constexpr std::size_t fewestRows = 32;
    const std::size_t count = examplesOf(job);
    const std::size_t wanted = std::max(busyInvocations / networks, std::size_t{1});
    const std::size_t rows =
        std::clamp(roundUpToFour((count + wanted - 1) / wanted), fewestRows, mostRows(device, job.shape));
    return {asUint((count + rows - 1) / rows), asUint(rows)};
}

PopulationScores::PopulationScores(PopulationArenas& arenas)
    : arenas_(arenas), job_(arenas.job), parts_(populationParts(arenas.device, job_, job_.members.size())),
      partSums_(arenas.device, parts_.bytes(job_.members.size()), gpu::Memory::device, "scores"),
      results_(arenas.device, job_.members.size() * sizeof(shared::PopulationResult), gpu::Memory::readback,
               "results"),
      column_(arenas.device, arenas.arenaIndices.size() * sizeof(float), gpu::Memory::readback,
              "parameters of a network"),
      recorder_(arenas.device) {}

void PopulationScores::score() {
    if (scored_) return;
    shared::PopulationScoreParams params{};
    params.places = asUint(job_.members.size());
    params.examples = asUint(examplesOf(job_));
    params.rows = parts_.rows;
    params.classes = asUint(job_.data.front()->classes);
    params.parts = parts_.count;
    params.terms = static_cast<float>(lossTerms(job_.shape.loss, params.examples, job_.shape.outputs()));
    const double workOfOne =
        static_cast<double>(params.examples) * static_cast<double>(arenas_.arenaIndices.size());
    const std::uint32_t most =
        asUint(std::clamp(workAtOnce(arenas_.device) / workOfOne, 32.0, 32768.0)) / 32 * 32;
    recorder_.begin();
    for (const PopulationRun& piece : arenas_.places.pieces(0, params.places, most))
        scoreNetworks(piece, params);
    params.networks = params.places;
    recorder_.dispatch(
        arenas_.kernels.find<shared::PopulationScoreParams>("population_result", arenas_.widthConstants(32)),
        {params.networks, 1, 1}, params,
        {arenas_.parameters.view(), arenas_.networks.view(), arenas_.states.view(), partSums_.view(),
         results_.view()});
    recorder_.submit();
    recorder_.finish();
    scored_ = true;
}

// In as many submissions as their parts need to be short.
void PopulationScores::scoreNetworks(const PopulationRun& networks, shared::PopulationScoreParams params) {
    constexpr double mostGroups = 32768; // every device dispatches that many
    params.first = networks.first;
    params.networks = networks.count;
    const double workOfPart = static_cast<double>(params.networks) * static_cast<double>(parts_.rows) *
                              static_cast<double>(arenas_.arenaIndices.size());
    const std::uint32_t most = asUint(std::clamp(workAtOnce(arenas_.device) / workOfPart, 1.0, mostGroups));
    const auto& kernel = arenas_.kernels.find<shared::PopulationScoreParams>(
        arenas_.loopedIfLarge("population_score"), arenas_.networkConstants(32, networks.activation));
    for (; params.firstPart < parts_.count; params.firstPart += most) {
        recorder_.dispatch(kernel, {params.networks, std::min(most, parts_.count - params.firstPart), 1},
                           params,
                           {arenas_.parameters.view(), arenas_.networks.view(),
                            (arenas_.test ? *arenas_.test : arenas_.train).view(), partSums_.view()});
        recorder_.submitAndGoOn();
    }
}

std::vector<MemberResult> PopulationScores::results() {
    score();
    std::vector<MemberResult> all;
    for (const auto& result : mappedValues<shared::PopulationResult>(results_, job_.members.size()))
        all.push_back({result.steps, result.diverged != 0, result.batchLoss, result.loss, result.accuracy,
                       result.weightNorm});
    return all;
}

std::vector<float> PopulationScores::parameters(std::size_t member) {
    const std::vector<std::uint32_t>& members = arenas_.places.members;
    const std::size_t count = arenas_.arenaIndices.size();
    const auto place = static_cast<std::size_t>(std::ranges::find(members, member) - members.begin());
    if (place == members.size())
        throw std::out_of_range("the population has no network " + std::to_string(member));
    recorder_.begin();
    for (std::size_t p = 0; p < count; ++p)
        recorder_.copy(arenas_.parameters.view((p * members.size() + place) * sizeof(float), sizeof(float)),
                       column_.view(p * sizeof(float), sizeof(float)));
    recorder_.submit();
    recorder_.finish();
    const std::vector<float> column = mappedValues<float>(column_, count);
    std::vector<float> arena(ParamLayout(job_.shape).size());
    for (std::size_t p = 0; p < count; ++p) arena[arenas_.arenaIndices[p]] = column[p];
    return arena;
}

} // namespace lockstep
