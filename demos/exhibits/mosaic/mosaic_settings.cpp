#include "demos/exhibits/mosaic/mosaic_settings.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/words/language.h"
#include "demos/words/text.h"
#include "engine/data/points_2d.h"
#include "engine/files/json_field.h"
#include "engine/net/names.h"
#include "engine/run/settings_json.h"

namespace lockstep::demos {

using nlohmann::ordered_json;

namespace {

struct HyperparameterRow {
    Hyperparameter parameter;
    const char* label;
    const char* axis; // over the range in which it makes a difference
};

constexpr HyperparameterRow hyperparameters[] = {
    {Hyperparameter::learningRate, "learning rate", "lr=0.001:10:log"},
    {Hyperparameter::initialScale, "initial weight scale", "init-scale=0.1:10:log"},
    {Hyperparameter::momentum, "momentum", "momentum=0:0.99"},
    {Hyperparameter::weightDecay, "L2", "l2=0.00001:1:log"},
    {Hyperparameter::noise, "noise", "noise=0:0.8"},
    {Hyperparameter::seed, "seed", "seed=1:64"},
    {Hyperparameter::activation, "activation", "activation=identity,relu,tanh,sigmoid"},
};

const HyperparameterRow& rowOf(Hyperparameter parameter) {
    return *std::ranges::find(hyperparameters, parameter, &HyperparameterRow::parameter);
}

} // namespace

MosaicSettings::MosaicSettings() {
    population.x = usualAxis(Hyperparameter::learningRate);
    population.y = usualAxis(Hyperparameter::initialScale);
    population.data = "moons";
    population.dataOptions.noise = 0.2;
    population.train.optimizer.kind = Optimizer::sgd;
    population.train.batch = 16;
    population.steps = 10000; // seconds, so that there is something to watch
}

void MosaicSettings::validate() const {
    population.validate();
    if (population.columns > mostTiles || population.rows > mostTiles)
        throw std::invalid_argument(fmt::format("a mosaic has at most {} x {} tiles, not {} x {}", mostTiles,
                                                mostTiles, population.columns, population.rows));
    points2dFromName(population.data); // tiles are maps of the plane
}

ordered_json toJson(const MosaicSettings& settings) {
    ordered_json json = toJson(settings.population);
    json["layout"] = name(settings.layout);
    json["cpu"] = settings.cpu;
    return json;
}

MosaicSettings mosaicSettingsFromJson(const ordered_json& given) {
    const ordered_json json = jsonCompleted(toJson(MosaicSettings{}), given, "mosaic");
    MosaicSettings settings;
    settings.population = populationSpecFromJson(json);
    settings.layout = populationLayoutFromName(jsonValue<std::string>(json, "layout"));
    settings.cpu = jsonValue<bool>(json, "cpu");
    settings.validate();
    return settings;
}

PopulationAxis usualAxis(Hyperparameter parameter) { return populationAxisFromText(rowOf(parameter).axis); }

std::string hyperparameterLabel(Hyperparameter parameter) { return rowOf(parameter).label; }

bool operator==(const MosaicSettings& a, const MosaicSettings& b) { return toJson(a) == toJson(b); }

ordered_json playgroundState(const PopulationGrid& grid, std::size_t member, std::uint64_t step,
                             const std::vector<float>& parameters) {
    const PopulationSpec& spec = grid.spec;
    const TrainJob job = grid.job.alone(member);
    ordered_json json;
    json["data"] = spec.data;
    json["noise"] = spec.noise(member);
    json["samples"] = spec.dataOptions.samples;
    json["train_share"] = 1 - spec.dataOptions.testShare;
    json["data_seed"] = spec.dataOptions.seed;
    json["features"] = {"x", "y"};
    json["hidden"] = spec.hidden;
    json["activation"] = name(job.shape.activation);
    json["output_activation"] = name(job.shape.outputActivation);
    json["loss"] = name(job.shape.loss);
    json["init"] = name(job.shape.init);
    json["settings"] = toJson(job.settings);
    // JSON has no NaN: a network that failed comes with fresh weights.
    if (!parameters.empty() &&
        std::ranges::all_of(parameters, [](float weight) { return std::isfinite(weight); })) {
        json["step"] = step;
        json["weights"] = parameters;
    }
    return json;
}

std::string memberState(const PopulationSpec& spec, const MemberResult& result) {
    if (result.diverged)
        return translatedFormat("Diverged: the loss was no longer finite at step {}.", grouped(result.steps));
    if (result.steps == 0) return std::string(translated("Training has not started: initial weights."));
    if (result.steps >= spec.steps) return translatedFormat("Trained for all {} steps.", grouped(spec.steps));
    return translatedFormat("Trained for {} of {} steps.", grouped(result.steps), grouped(spec.steps));
}

NamedValues memberValues(const PopulationSpec& spec, std::size_t member, const MemberResult& result) {
    const GridCell cell = spec.cell(member);
    NamedValues values{
        {hyperparameterLabel(spec.x.parameter), withDecimalSign(spec.x.label(cell.x, spec.columns))},
        {hyperparameterLabel(spec.y.parameter), withDecimalSign(spec.y.label(cell.y, spec.rows))}};
    if (result.diverged)
        values.emplace_back("diverged at step", grouped(result.steps));
    else
        values.emplace_back("loss",
                            std::isfinite(result.loss) ? threeDigits(static_cast<double>(result.loss)) : "-");
    if (!std::isnan(result.accuracy))
        values.emplace_back("accuracy", percent(static_cast<double>(result.accuracy)));
    return values;
}

std::string sharedText(const PopulationGrid& grid) {
    const PopulationSpec& spec = grid.spec;
    const NetShape& shape = grid.job.shape;
    std::string text = shape.describeWidths();
    if (spec.axisOf(Hyperparameter::activation) == nullptr)
        text += fmt::format(" {}", translated(name(shape.activation)));
    text += fmt::format(", {}, {}", name(shape.loss), name(spec.train.optimizer.kind));
    if (spec.axisOf(Hyperparameter::learningRate) == nullptr)
        text += fmt::format(" {}", threeDigits(spec.train.optimizer.effectiveLearningRate()));
    return text + translatedFormat(", batch {}", spec.train.batch);
}

} // namespace lockstep::demos
