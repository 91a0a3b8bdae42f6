#include "demos/exhibits/inside/inside_settings.h"

#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/options/run_options.h"
#include "engine/files/json_field.h"

namespace lockstep::demos {

namespace {

RunOptions runOptions(const InsideSettings& settings) {
    RunOptions options;
    options.data = settings.data;
    options.hiddenWidths = settings.hidden;
    options.activation = settings.activation;
    options.settings.optimizer.kind = settings.optimizer;
    options.settings.batch = settings.batch;
    options.settings.seed = settings.seed;
    return options;
}

LaneSpec laneField(const nlohmann::ordered_json& json, const char* name, const LaneSpec& otherwise) {
    LaneSpec spec = laneSpecFromText(jsonValueOr(json, name, otherwise.text()));
    if (spec.gpu != otherwise.gpu)
        throw std::invalid_argument(fmt::format("the field '{}' of 'inside' names '{}'", name, spec.text()));
    return spec;
}

} // namespace

void InsideSettings::validate() const {
    if (hidden.size() > mostLayers)
        throw std::invalid_argument(
            fmt::format("at most {} hidden layers fit into this exhibit", mostLayers));
    for (const std::size_t width : hidden)
        if (width == 0 || width > widest)
            throw std::invalid_argument(
                fmt::format("hidden layers have 1 to {} neurons here, not {}", widest, width));
    if (batch == 0 || batch > mostBatch)
        throw std::invalid_argument(
            fmt::format("batches have 1 to {} examples here, not {}", mostBatch, batch));
}

Dataset InsideSettings::load() const { return loadData(runOptions(*this)); }

TrainJob InsideSettings::job(const Dataset& dataset) const { return makeJob(runOptions(*this), dataset); }

nlohmann::ordered_json toJson(const InsideSettings& settings) {
    nlohmann::ordered_json json;
    json["data"] = settings.data;
    json["hidden"] = settings.hidden;
    json["activation"] = name(settings.activation);
    json["optimizer"] = name(settings.optimizer);
    json["batch"] = settings.batch;
    json["seed"] = settings.seed;
    json["cpu"] = settings.lanes[0].text();
    json["gpu"] = settings.lanes[1].text();
    return json;
}

InsideSettings insideSettingsFromJson(const nlohmann::ordered_json& json) {
    if (!json.is_object()) throw std::invalid_argument("the state of 'inside' has to be an object");
    const InsideSettings first;
    InsideSettings settings;
    settings.data = jsonValueOr(json, "data", first.data);
    settings.hidden = jsonValueOr(json, "hidden", first.hidden);
    settings.activation =
        activationFromName(jsonValueOr(json, "activation", std::string(name(first.activation))));
    settings.optimizer =
        optimizerFromName(jsonValueOr(json, "optimizer", std::string(name(first.optimizer))));
    settings.batch = jsonValueOr(json, "batch", first.batch);
    settings.seed = jsonValueOr(json, "seed", first.seed);
    settings.lanes[0] = laneField(json, "cpu", first.lanes[0]);
    settings.lanes[1] = laneField(json, "gpu", first.lanes[1]);
    settings.validate();
    return settings;
}

} // namespace lockstep::demos
