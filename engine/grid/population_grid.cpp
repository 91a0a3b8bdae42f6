#include "engine/grid/population_grid.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "engine/data/points_2d.h"
#include "engine/files/json_field.h"
#include "engine/run/settings_json.h"

namespace lockstep {

namespace {

std::string sizeText(std::size_t columns, std::size_t rows) {
    return std::to_string(columns) + "x" + std::to_string(rows);
}

/// The largest size of about these proportions that a population can have.
std::string fittingSize(std::size_t columns, std::size_t rows) {
    const double most = populationMembers;
    const double wide = static_cast<double>(columns);
    const double high = static_cast<double>(rows);
    const double columnsThatFit = std::clamp(std::floor(std::sqrt(most * wide / high)), 1.0, most);
    const double fewerRows = std::min(std::floor(most / columnsThatFit), high);
    const double fewerColumns = std::min(std::floor(most / fewerRows), wide);
    return sizeText(static_cast<std::size_t>(fewerColumns), static_cast<std::size_t>(fewerRows));
}

void requireSize(std::size_t columns, std::size_t rows) {
    if (columns == 0 || rows == 0)
        throw std::invalid_argument("a grid of " + sizeText(columns, rows) +
                                    " has no network; 1x1 is the smallest");
    if (columns <= populationMembers && rows <= populationMembers && columns * rows <= populationMembers)
        return;
    throw std::invalid_argument("a population has at most " + std::to_string(populationMembers) +
                                " networks, too few for " + sizeText(columns, rows) + "; " +
                                fittingSize(columns, rows) + " fits");
}

bool generated(const std::string& data) {
    return std::find(points2dNames.begin(), points2dNames.end(), data) != points2dNames.end();
}

/// An axis along which all networks would be the same.
void requireEffect(const PopulationSpec& spec, const PopulationAxis& axis) {
    const Optimizer optimizer = spec.train.optimizer.kind;
    if (axis.parameter == Hyperparameter::momentum && !infoOf(optimizer).has(usesMomentum))
        throw std::invalid_argument("the optimizer " + std::string(name(optimizer)) +
                                    " has no momentum to vary; use " + optimizersWith(usesMomentum));
    if (axis.parameter == Hyperparameter::noise && !generated(spec.data))
        throw std::invalid_argument("only generated points have noise, such as spiral or circle, not '" +
                                    spec.data + "'");
    if (axis.parameter == Hyperparameter::activation && spec.hidden.empty())
        throw std::invalid_argument("a network without hidden layers has no activation to vary");
    if (axis.parameter == Hyperparameter::initialScale && spec.init == InitScheme::zeros)
        throw std::invalid_argument("initial weights that are all 0 have no scale to vary");
}

void validateAxis(const PopulationSpec& spec, const PopulationAxis& axis, const char* which) {
    try {
        axis.validate();
        requireEffect(spec, axis);
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(std::string("the ") + which + " axis: " + error.what());
    }
}

NetShape shapeOf(const PopulationSpec& spec, const Dataset& data) {
    NetShape shape;
    shape.loss = spec.loss.value_or(suitableLoss(data));
    shape.activation = spec.activation;
    shape.outputActivation = spec.outputActivation;
    shape.init = spec.init;
    shape.widths = spec.hidden;
    shape.widths.insert(shape.widths.begin(), data.inputs);
    shape.widths.push_back(outputsFor(data, shape.loss));
    return shape;
}

/// A data set per cell of the axis of noise, which differ in nothing else; one where there is no such axis.
std::vector<std::unique_ptr<const Dataset>> loadAll(const PopulationSpec& spec) {
    const PopulationAxis* axis = spec.axisOf(Hyperparameter::noise);
    const std::size_t cells = axis == nullptr ? 1 : axis == &spec.x ? spec.columns : spec.rows;
    std::vector<std::unique_ptr<const Dataset>> data;
    for (std::size_t cell = 0; cell < cells; ++cell) {
        DataOptions options = spec.dataOptions;
        if (axis != nullptr) options.noise = axis->value(cell, cells);
        data.push_back(std::make_unique<const Dataset>(loadDataset(spec.data, options)));
    }
    return data;
}

std::size_t dataOf(const PopulationSpec& spec, std::size_t member) {
    const PopulationAxis* axis = spec.axisOf(Hyperparameter::noise);
    if (axis == nullptr) return 0;
    return axis == &spec.x ? spec.cell(member).x : spec.cell(member).y;
}

} // namespace

PopulationMember PopulationSpec::member(std::size_t number) const {
    PopulationMember member;
    member.seed = train.seed;
    member.learningRate = train.optimizer.effectiveLearningRate();
    member.initialScale = initialScale;
    member.momentum = train.optimizer.momentum;
    member.weightDecay = train.optimizer.effectiveWeightDecay();
    member.activation = activation;
    x.apply(member, cell(number).x, columns);
    y.apply(member, cell(number).y, rows);
    return member;
}

std::string PopulationSpec::describe(std::size_t member) const {
    return std::string(name(x.parameter)) + " " + x.label(cell(member).x, columns) + ", " +
           std::string(name(y.parameter)) + " " + y.label(cell(member).y, rows);
}

const PopulationAxis* PopulationSpec::axisOf(Hyperparameter parameter) const {
    if (x.parameter == parameter) return &x;
    return y.parameter == parameter ? &y : nullptr;
}

double PopulationSpec::noise(std::size_t member) const {
    const PopulationAxis* axis = axisOf(Hyperparameter::noise);
    if (axis == nullptr) return dataOptions.noise;
    return axis->value(dataOf(*this, member), axis == &x ? columns : rows);
}

void PopulationSpec::validate() const {
    requireSize(columns, rows);
    validateAxis(*this, x, "x");
    validateAxis(*this, y, "y");
    if (x.parameter == y.parameter)
        throw std::invalid_argument(std::string(name(x.parameter)) +
                                    " is on both axes; put another hyperparameter on one of them");
    if (!(initialScale > 0 && initialScale <= largestInitialScale))
        throw std::invalid_argument(
            "the scale of the initial weights must be a number above 0, up to 1,000,000");
    train.optimizer.validate();
}

std::array<std::size_t, 2> populationSizeFromText(std::string_view text) {
    std::array<std::size_t, 2> size{};
    const char* end = text.data() + text.size();
    const auto [cross, first] = std::from_chars(text.data(), end, size[0]);
    const bool crossed = first == std::errc() && cross != end && *cross == 'x';
    const auto [rest, second] = std::from_chars(crossed ? cross + 1 : end, end, size[1]);
    if (!crossed || second != std::errc() || rest != end)
        throw std::invalid_argument("'" + std::string(text) +
                                    "' is not a size; write COLUMNSxROWS, as in 32x32");
    requireSize(size[0], size[1]);
    return size;
}

Loss suitableLoss(const Dataset& data) {
    if (data.classes == 0) return Loss::meanSquared;
    return data.classes == 2 ? Loss::binaryCrossEntropy : Loss::crossEntropy;
}

PopulationGrid makePopulationGrid(const PopulationSpec& spec) {
    spec.validate();
    PopulationGrid grid{spec, loadAll(spec), {}};
    for (const auto& data : grid.data) grid.job.data.push_back(data.get());
    grid.job.shape = shapeOf(spec, *grid.data.front());
    grid.job.settings = spec.train;
    grid.job.steps = spec.steps;
    for (std::size_t number = 0; number < spec.size(); ++number) {
        grid.job.members.push_back(spec.member(number));
        grid.job.members.back().data = dataOf(spec, number);
    }
    grid.job.validate();
    return grid;
}

using nlohmann::ordered_json;

ordered_json toJson(const PopulationSpec& spec) {
    return {{"columns", spec.columns},
            {"rows", spec.rows},
            {"x", spec.x.text()},
            {"y", spec.y.text()},
            {"data", spec.data},
            {"data_options", toJson(spec.dataOptions)},
            {"hidden", spec.hidden},
            {"activation", name(spec.activation)},
            {"output_activation", name(spec.outputActivation)},
            {"loss", spec.loss ? ordered_json(name(*spec.loss)) : ordered_json()},
            {"init", name(spec.init)},
            {"init_scale", spec.initialScale},
            {"steps", spec.steps},
            {"settings", toJson(spec.train)}};
}

PopulationSpec populationSpecFromJson(const ordered_json& json) {
    PopulationSpec spec;
    spec.columns = jsonValue<std::size_t>(json, "columns");
    spec.rows = jsonValue<std::size_t>(json, "rows");
    spec.x = populationAxisFromText(jsonValue<std::string>(json, "x"));
    spec.y = populationAxisFromText(jsonValue<std::string>(json, "y"));
    spec.data = jsonValue<std::string>(json, "data");
    spec.dataOptions = dataOptionsFromJson(jsonField(json, "data_options"));
    spec.hidden = jsonValue<std::vector<std::size_t>>(json, "hidden");
    spec.activation = activationFromName(jsonValue<std::string>(json, "activation"));
    spec.outputActivation = activationFromName(jsonValue<std::string>(json, "output_activation"));
    if (!jsonField(json, "loss").is_null()) spec.loss = lossFromName(jsonValue<std::string>(json, "loss"));
    spec.init = initSchemeFromName(jsonValue<std::string>(json, "init"));
    spec.initialScale = jsonValue<double>(json, "init_scale");
    spec.steps = jsonValue<std::uint64_t>(json, "steps");
    spec.train = trainSettingsFromJson(jsonField(json, "settings"));
    spec.validate();
    return spec;
}

} // namespace lockstep
