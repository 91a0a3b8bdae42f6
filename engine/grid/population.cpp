#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "engine/grid/population.h"
#include "engine/net/names.h"
#include "engine/net/param_layout.h"

namespace lockstep {

namespace {

// The widest hidden layers, all of one width, whose parameters are not too many.
std::size_t widestThatFits(NetShape shape) {
    std::size_t width = 0;
    do {
        ++width;
        for (std::size_t layer = 1; layer + 1 < shape.widths.size(); ++layer) shape.widths[layer] = width;
    } while (shape.parameters() <= populationParameters);
    return width - 1;
}

void requireAtMost(const NetShape& shape, std::size_t most, const char* what, std::size_t has,
                   const std::string& hint = {}) {
    if (has > most)
        throw std::invalid_argument("a population cannot be made of networks " + shape.describeWidths() +
                                    ": it takes at most " + std::to_string(most) + " " + what +
                                    ", and this has " + std::to_string(has) + hint);
}

void validateShape(const NetShape& shape) {
    shape.validate();
    requireAtMost(shape, populationInputs, "inputs", shape.inputs());
    requireAtMost(shape, populationOutputs, "outputs", shape.outputs());
    requireAtMost(shape, populationHiddenLayers, "hidden layers", shape.layers() - 1);
    if (shape.parameters() <= populationParameters) return; // there may be no hidden layer to widen
    requireAtMost(shape, populationParameters, "parameters", shape.parameters(),
                  "; hidden layers of " + std::to_string(widestThatFits(shape)) + " neurons fit");
}

void validateData(const PopulationJob& job) {
    if (job.data.empty()) throw std::invalid_argument("a population needs data");
    const Dataset& first = *job.data.front();
    for (const Dataset* data : job.data) {
        const bool alike = data->inputs == first.inputs && data->classes == first.classes &&
                           data->targetWidth == first.targetWidth && data->train.count == first.train.count &&
                           data->test.count == first.test.count;
        if (!alike) throw std::invalid_argument("the data sets of a population must have the same sizes");
        if (data->bytes())
            throw std::invalid_argument("the networks of a population take numbers, not pixels: generated "
                                        "points, or a table (csv:FILE)");
    }
}

void validateMember(const PopulationJob& job, std::size_t number) {
    const PopulationMember& member = job.members[number];
    try {
        if (member.data >= job.data.size())
            throw std::invalid_argument("its data set is not among the job's");
        if (!(member.initialScale > 0 && member.initialScale <= largestInitialScale))
            throw std::invalid_argument(
                "the scale of its initial weights must be a number above 0, up to 1,000,000");
        job.alone(number).settings.optimizer.validate();
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument("network " + std::to_string(number) +
                                    " of the population: " + error.what());
    }
}

} // namespace

void PopulationJob::validate() const {
    validateData(*this);
    if (members.empty()) throw std::invalid_argument("a population needs at least 1 network");
    if (members.size() > populationMembers)
        throw std::invalid_argument("a population has at most " + std::to_string(populationMembers) +
                                    " networks, and this has " + std::to_string(members.size()));
    if (steps < 1 || steps > 10'000'000)
        throw std::invalid_argument("the networks of a population make 1 to 10,000,000 steps");
    validateShape(shape);
    if (settings.precision.format != OperandFormat::fp32)
        throw std::invalid_argument("the networks of a population train in fp32, not in " +
                                    std::string(name(settings.precision.format)));
    for (const Dataset* set : data) TrainJob{set, shape, settings}.validate();
    for (std::size_t number = 0; number < members.size(); ++number) validateMember(*this, number);
}

TrainJob PopulationJob::alone(std::size_t number) const {
    const PopulationMember& member = members.at(number);
    TrainJob job{data.at(member.data), shape, settings};
    job.shape.activation = member.activation;
    job.settings.seed = member.seed;
    job.settings.optimizer.learningRate = member.learningRate;
    job.settings.optimizer.momentum = member.momentum;
    job.settings.optimizer.weightDecay = member.weightDecay;
    return job;
}

std::vector<float> PopulationJob::initialParameters(std::size_t number) const {
    std::vector<float> parameters = initialWeights(shape, members.at(number).seed);
    const auto scale = static_cast<float>(members[number].initialScale);
    for (float& parameter : parameters) parameter *= scale; // biases are 0
    return parameters;
}

PopulationLayout populationLayoutFromName(std::string_view text) {
    constexpr NameOf<PopulationLayout> layouts[] = {{Rung::best, "best"},
                                                    {Rung::invocation, "invocation"},
                                                    {Rung::subgroup, "subgroup"},
                                                    {Rung::workgroup, "workgroup"}};
    return valueFromName(layouts, "layout", text);
}

std::unique_ptr<Population> makePopulation(const PopulationJob& job, const LaneSpec& lane,
                                           std::size_t threads, gpu::Device* device) {
    if (lane.gpu) return makeGpuPopulation(*device, job, populationLayoutFromName(name(lane.rung)));
    return makeCpuPopulation(job, lane.row().allCores ? threads : 1, lane.row().vectors);
}

PopulationSummary summarise(const PopulationJob& job, std::span<const MemberResult> results) {
    PopulationSummary summary;
    const auto key = [&](std::uint32_t member) {
        const MemberResult& result = results[member];
        return result.diverged || !std::isfinite(result.loss) ? std::numeric_limits<float>::infinity()
                                                              : result.loss;
    };
    const auto hasBegun = [&](std::uint32_t member) { return results[member].begun(); };
    summary.ranking.resize(results.size());
    std::iota(summary.ranking.begin(), summary.ranking.end(), 0u);
    const auto rest = std::stable_partition(summary.ranking.begin(), summary.ranking.end(), hasBegun);
    std::stable_sort(summary.ranking.begin(), rest,
                     [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    for (const MemberResult& result : results) {
        summary.begun += result.begun();
        summary.finished += result.steps >= job.steps || result.diverged;
        summary.diverged += result.diverged;
        summary.networkSteps += result.steps;
    }
    for (std::size_t i = 0; i < PopulationSummary::shares.size(); ++i)
        summary.percentiles[i] =
            summary.begun == 0
                ? MemberResult::unknown
                : key(summary.ranking[(PopulationSummary::shares[i] * (summary.begun - 1) + 50) / 100]);
    return summary;
}

void DecisionMapOptions::validate(const PopulationJob& job) const {
    if (features.size() != job.shape.inputs())
        throw std::invalid_argument("the map has " + std::to_string(features.size()) +
                                    " features, and the networks take " + std::to_string(job.shape.inputs()));
    if (columns < 1 || columns > populationMembers)
        throw std::invalid_argument("a decision map has 1 to " + std::to_string(populationMembers) +
                                    " tiles beside each other");
    if (cells < 4 || cells > 64)
        throw std::invalid_argument("a tile of a decision map has 4 to 64 pixels along one side");
    if (!std::isfinite(from) || !std::isfinite(to) || !(from < to))
        throw std::invalid_argument("a decision map needs a range of the plane that is not empty");
}

std::vector<float> DecisionMapOptions::points() const {
    const float side = (to - from) / static_cast<float>(cells);
    std::vector<float> values;
    values.reserve(std::size_t{cells} * cells * features.size());
    for (std::uint32_t row = 0; row < cells; ++row)
        for (std::uint32_t column = 0; column < cells; ++column) {
            const float x = from + (static_cast<float>(column) + 0.5f) * side;
            const float y = to - (static_cast<float>(row) + 0.5f) * side;
            for (const PlaneFeature feature : features) values.push_back(planeFeature(feature, x, y));
        }
    return values;
}

PopulationPlaces::PopulationPlaces(const PopulationJob& job) : members(job.members.size()) {
    const auto activationOf = [&](std::uint32_t member) { return job.members[member].activation; };
    std::iota(members.begin(), members.end(), 0u);
    std::ranges::stable_sort(members, {}, activationOf);
    for (std::uint32_t place = 0; place < members.size(); ++place) {
        const Activation activation = activationOf(members[place]);
        if (runs.empty() || runs.back().activation != activation) runs.push_back({activation, place, 0});
        ++runs.back().count;
    }
}

std::vector<PopulationRun> PopulationPlaces::pieces(std::size_t first, std::size_t count,
                                                    std::size_t most) const {
    std::vector<PopulationRun> pieces;
    for (const PopulationRun& run : runs) {
        const std::size_t end = std::min<std::size_t>(run.first + run.count, first + count);
        for (std::size_t place = std::max<std::size_t>(run.first, first); place < end; place += most)
            pieces.push_back({run.activation, static_cast<std::uint32_t>(place),
                              static_cast<std::uint32_t>(std::min(most, end - place))});
    }
    return pieces;
}

std::vector<std::uint32_t> unpaddedParameters(const NetShape& shape) {
    const ParamLayout layout(shape);
    std::vector<std::uint32_t> indices;
    for (std::size_t l = 0; l < layout.layers(); ++l) {
        const LayerLayout& place = layout.layer(l);
        for (std::size_t o = 0; o < place.outputs; ++o)
            for (std::size_t i = 0; i < place.inputs; ++i)
                indices.push_back(static_cast<std::uint32_t>(place.weightOffset + o * place.rowStride + i));
        for (std::size_t o = 0; o < place.outputs; ++o)
            indices.push_back(static_cast<std::uint32_t>(place.biasOffset + o));
    }
    return indices;
}

} // namespace lockstep
