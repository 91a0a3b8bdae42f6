#include "demos/exhibits/ladder/ladder_settings.h"

#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/options/run_options.h"
#include "engine/files/json_field.h"

namespace lockstep::demos {

namespace {

RunOptions runOptions(const LadderSettings& settings) {
    RunOptions options;
    options.data = settings.data;
    options.hiddenWidths = settings.hidden;
    options.settings.optimizer.kind = settings.optimizer;
    options.settings.batch = settings.batch;
    options.settings.seed = settings.seed;
    return options;
}

} // namespace

void LadderSettings::validate() const {
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

Dataset LadderSettings::load() const { return loadData(runOptions(*this)); }

TrainJob LadderSettings::job(const Dataset& dataset) const { return makeJob(runOptions(*this), dataset); }

nlohmann::ordered_json toJson(const LadderSettings& settings) {
    nlohmann::ordered_json json;
    json["data"] = settings.data;
    json["hidden"] = settings.hidden;
    json["optimizer"] = name(settings.optimizer);
    json["batch"] = settings.batch;
    json["seed"] = settings.seed;
    return json;
}

LadderSettings ladderSettingsFromJson(const nlohmann::ordered_json& json) {
    if (!json.is_object()) throw std::invalid_argument("the state of 'ladder' has to be an object");
    const LadderSettings first;
    LadderSettings settings;
    settings.data = jsonValueOr(json, "data", first.data);
    settings.hidden = jsonValueOr(json, "hidden", first.hidden);
    settings.optimizer =
        optimizerFromName(jsonValueOr(json, "optimizer", std::string(name(first.optimizer))));
    settings.batch = jsonValueOr(json, "batch", first.batch);
    settings.seed = jsonValueOr(json, "seed", first.seed);
    settings.validate();
    return settings;
}

} // namespace lockstep::demos
