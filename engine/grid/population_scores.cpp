#include "engine/grid/population_scores.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/grid/population_plan.h"
#include "engine/net/param_layout.h"
#include "engine/net/plain_ops.h"
#include "engine/step/work.h"

namespace lockstep {

namespace {

constexpr std::uint32_t keyOfNone = 0xFFFFFFFFu; // shaders/grid/population_key.glsl

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

std::uint64_t paddedMembers(const PopulationJob& job) { return roundUpToFour(job.members.size()); }

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

std::uint64_t populationPartBytes(const gpu::Device& device, const PopulationJob& job, std::size_t networks) {
    return std::uint64_t{populationParts(device, job, networks).count} * networks * 2 * sizeof(float);
}

PopulationScores::PopulationScores(gpu::Device& device, PopulationKernels& kernels, PopulationArenas& arenas,
                                   const PopulationJob& job)
    : device_(device), kernels_(kernels), arenas_(arenas), job_(job),
      parts_(populationParts(device, job, job.members.size())),
      partSums_(device, populationPartBytes(device, job, job.members.size()), gpu::Memory::device, "scores"),
      results_(device, job.members.size() * sizeof(shared::PopulationResult), gpu::Memory::readback,
               "results"),
      keys_(device, paddedMembers(job) * sizeof(std::uint32_t), gpu::Memory::device, "keys"),
      ranking_(device, job.members.size() * sizeof(std::uint32_t), gpu::Memory::readback, "ranking"),
      totals_(device, sizeof(shared::PopulationTotals), gpu::Memory::readback, "summary"),
      column_(device, arenas.arenaIndices().size() * sizeof(float), gpu::Memory::readback,
              "parameters of a network"),
      recorder_(device) {
    keys_.uploadValues<std::uint32_t>(std::vector<std::uint32_t>(paddedMembers(job), keyOfNone));
}

std::size_t PopulationScores::exampleCount() const { return examplesOf(job_); }

std::uint32_t PopulationScores::networksAtOnce(double workOfOne) const {
    return asUint(std::clamp(workAtOnce(device_) / workOfOne, 32.0, 32768.0)) / 32 * 32;
}

void PopulationScores::score() {
    if (scored_) return;
    recorder_.begin();
    for (const PopulationRun& run : arenas_.runs) scoreRun(run);
    recordResults();
    recorder_.submit();
    recorder_.finish();
    scored_ = true;
}

void PopulationScores::scoreRun(const PopulationRun& run) {
    const auto examplesOfOne = static_cast<double>(exampleCount());
    const std::uint32_t most =
        networksAtOnce(examplesOfOne * static_cast<double>(arenas_.arenaIndices().size()));
    shared::PopulationScoreParams params{};
    params.places = asUint(arenas_.members.size());
    params.examples = asUint(exampleCount());
    params.rows = parts_.rows;
    params.classes = asUint(job_.data.front()->classes);
    for (std::uint32_t done = 0; done < run.count; done += params.networks) {
        params.first = run.first + done;
        params.networks = std::min(most, run.count - done);
        scoreNetworks(run, params);
    }
}

// In as many submissions as their parts need to be short.
void PopulationScores::scoreNetworks(const PopulationRun& run, shared::PopulationScoreParams params) {
    constexpr double mostGroups = 32768; // every device dispatches that many
    const double workOfPart = static_cast<double>(params.networks) * static_cast<double>(parts_.rows) *
                              static_cast<double>(arenas_.arenaIndices().size());
    const std::uint32_t most = asUint(std::clamp(workAtOnce(device_) / workOfPart, 1.0, mostGroups));
    for (; params.firstPart < parts_.count; params.firstPart += most) {
        recorder_.dispatch(
            kernels_.score(run.activation),
            {params.networks, std::min(most, parts_.count - params.firstPart), 1}, params,
            {arenas_.parameters.view(), arenas_.networks.view(), examples().view(), partSums_.view()});
        recorder_.submitAndGoOn();
    }
}

void PopulationScores::recordResults() {
    const std::size_t terms = lossTerms(job_.shape.loss, exampleCount(), job_.shape.outputs());
    const shared::PopulationResultParams params{asUint(arenas_.members.size()),
                                                asUint(arenas_.members.size()),
                                                asUint(exampleCount()),
                                                parts_.count,
                                                asUint(job_.data.front()->classes),
                                                static_cast<float>(terms)};
    recorder_.dispatch(kernels_.results(), {params.networks, 1, 1}, params,
                       {arenas_.parameters.view(), arenas_.networks.view(), arenas_.states.view(),
                        partSums_.view(), results_.view(), keys_.view()});
}

void PopulationScores::recordRanks() {
    shared::PopulationRankParams params{asUint(job_.members.size()), 0};
    const std::uint32_t most = networksAtOnce(static_cast<double>(params.networks));
    for (; params.first < params.networks; params.first += most) {
        recorder_.dispatch(kernels_.rank(), {std::min(most, params.networks - params.first), 1, 1}, params,
                           {keys_.view(), ranking_.view()});
        recorder_.submitAndGoOn();
    }
    const shared::PopulationSummaryParams all{params.networks, asUint(job_.steps)};
    recorder_.dispatch(kernels_.summary(), {1, 1, 1}, all,
                       {results_.view(), keys_.view(), ranking_.view(), totals_.view()});
}

std::vector<MemberResult> PopulationScores::results() {
    score();
    std::vector<MemberResult> all;
    for (const auto& result : mappedValues<shared::PopulationResult>(results_, job_.members.size()))
        all.push_back({result.steps, result.diverged != 0, result.batchLoss, result.loss, result.accuracy,
                       result.weightNorm});
    return all;
}

PopulationSummary PopulationScores::summary() {
    score();
    recorder_.begin();
    recordRanks();
    recorder_.submit();
    recorder_.finish();
    const auto totals = mappedValues<shared::PopulationTotals>(totals_, 1).front();
    PopulationSummary summary;
    summary.ranking = mappedValues<std::uint32_t>(ranking_, job_.members.size());
    summary.begun = totals.begun;
    summary.finished = totals.finished;
    summary.diverged = totals.diverged;
    summary.networkSteps = std::uint64_t{totals.stepsHigh} << 32 | totals.stepsLow;
    const std::uint32_t bits[] = {totals.percentile0, totals.percentile1, totals.percentile2,
                                  totals.percentile3, totals.percentile4, totals.percentile5,
                                  totals.percentile6};
    std::ranges::transform(bits, summary.percentiles.begin(),
                           [](std::uint32_t word) { return std::bit_cast<float>(word); });
    return summary;
}

std::vector<float> PopulationScores::parameters(std::size_t member) {
    const std::size_t count = arenas_.arenaIndices().size();
    const std::size_t place = arenas_.places.at(member);
    recorder_.begin();
    for (std::size_t p = 0; p < count; ++p)
        recorder_.copy(
            arenas_.parameters.view((p * arenas_.members.size() + place) * sizeof(float), sizeof(float)),
            column_.view(p * sizeof(float), sizeof(float)));
    recorder_.submit();
    recorder_.finish();
    const std::vector<float> column = mappedValues<float>(column_, count);
    std::vector<float> arena(ParamLayout(job_.shape).size());
    for (std::size_t p = 0; p < count; ++p) arena[arenas_.arenaIndices()[p]] = column[p];
    return arena;
}

} // namespace lockstep
