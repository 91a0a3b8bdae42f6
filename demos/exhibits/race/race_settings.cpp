#include "demos/exhibits/race/race_settings.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/files/json_field.h"
#include "engine/net/names.h"
#include "engine/run/settings_json.h"

namespace lockstep::demos {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view fields[] = {"data", "data_options", "hidden",   "activation", "output_activation",
                                       "loss", "init",         "settings", "finish",     "together",
                                       "lanes"};

Json finishJson(const FinishLine& finish) {
    Json json = Json::object();
    if (finish.epochs > 0) json["epochs"] = finish.epochs;
    if (finish.steps > 0) json["steps"] = finish.steps;
    if (finish.seconds > 0) json["seconds"] = finish.seconds;
    if (finish.accuracy > 0) json["accuracy"] = finish.accuracy;
    if (finish.loss > 0) json["loss"] = finish.loss;
    return json.empty() ? Json() : json;
}

void requireKnown(const Json& json, const char* where, std::span<const std::string_view> known) {
    if (!json.is_object()) throw std::invalid_argument(fmt::format("'{}' must be an object", where));
    for (const auto& [name, value] : json.items())
        if (std::ranges::find(known, name) == known.end())
            throwUnknownName(fmt::format("field of '{}':", where), name, known);
}

// What reading a field throws, with the field's name in front.
template <class Read> void readField(const Json& json, const char* name, Read read) {
    if (!json.contains(name)) return;
    try {
        read(json[name]);
    } catch (const std::exception& error) {
        throw std::invalid_argument(fmt::format("field '{}': {}", name, error.what()));
    }
}

std::string textOf(const Json& value) {
    if (!value.is_string()) throw std::invalid_argument("a text was expected");
    return value.get<std::string>();
}

std::string dataFrom(const Json& value) {
    std::string spec = textOf(value);
    if (spec.starts_with("csv:") || spec.starts_with("idx:")) return spec;
    const std::vector<std::string_view> known = dataSpecs();
    if (std::ranges::find(known, spec) == known.end() || spec == "idx:FOLDER" || spec == "csv:FILE")
        throwUnknownName("data", spec, known);
    return spec;
}

std::optional<std::vector<std::size_t>> hiddenFrom(const Json& value) {
    constexpr std::size_t widest = 65000;
    constexpr std::size_t deepest = 64;
    if (value.is_null()) return std::nullopt;
    std::vector<std::size_t> widths;
    if (!value.is_array() || value.size() > deepest)
        throw std::invalid_argument(fmt::format("a list of at most {} widths was expected", deepest));
    for (const Json& width : value) {
        if (!width.is_number_unsigned() || width < 1 || width > widest)
            throw std::invalid_argument(fmt::format("widths are whole numbers from 1 to {}", widest));
        widths.push_back(width.get<std::size_t>());
    }
    return widths;
}

FinishLine finishFrom(const Json& value) {
    constexpr std::string_view known[] = {"epochs", "steps", "seconds", "accuracy", "loss"};
    FinishLine finish;
    if (value.is_null()) return finish;
    requireKnown(value, "finish", known);
    if (value.contains("epochs")) finish.epochs = jsonValue<std::uint64_t>(value, "epochs");
    if (value.contains("steps")) finish.steps = jsonValue<std::uint64_t>(value, "steps");
    if (value.contains("seconds")) finish.seconds = jsonValue<double>(value, "seconds");
    if (value.contains("accuracy")) finish.accuracy = jsonValue<double>(value, "accuracy");
    if (value.contains("loss")) finish.loss = jsonValue<double>(value, "loss");
    if (finish.seconds < 0 || finish.loss < 0 || finish.accuracy < 0 || finish.accuracy > 1)
        throw std::invalid_argument("seconds and loss are above 0, the accuracy is between 0 and 1");
    return finish;
}

std::vector<LaneSpec> lanesFrom(const Json& value) {
    if (!value.is_array() || value.size() > mostLanes)
        throw std::invalid_argument(fmt::format("a list of at most {} lanes was expected", mostLanes));
    std::vector<LaneSpec> lanes;
    for (const Json& lane : value) lanes.push_back(laneSpecFromText(textOf(lane)));
    return lanes;
}

// The rest of an object is as it always is; which rate is usual depends on the optimizer.
TrainSettings trainSettingsFrom(const Json& value) {
    TrainSettings usual;
    if (value.is_object() && value.contains("optimizer"))
        usual.optimizer.kind = optimizerFromName(jsonValue<std::string>(value, "optimizer"));
    Json whole = toJson(usual);
    std::vector<std::string> names;
    for (const auto& [name, unused] : whole.items()) names.push_back(name);
    const std::vector<std::string_view> known(names.begin(), names.end());
    requireKnown(value, "settings", known);
    whole.update(value);
    TrainSettings settings = trainSettingsFromJson(whole);
    if (settings.batch > largestBatch)
        throw std::invalid_argument(fmt::format("'batch' is at most {}", largestBatch));
    return settings;
}

DataOptions dataOptionsFrom(const Json& value) {
    Json whole = toJson(DataOptions());
    std::vector<std::string> names;
    for (const auto& [name, unused] : whole.items()) names.push_back(name);
    const std::vector<std::string_view> known(names.begin(), names.end());
    requireKnown(value, "data_options", known);
    whole.update(value);
    return dataOptionsFromJson(whole);
}

} // namespace

Json toJson(const RaceSettings& settings) {
    const RunOptions& run = settings.run;
    Json lanes = Json::array();
    for (const LaneSpec& lane : run.lanes) lanes.push_back(lane.text());
    return {{"data", run.data},
            {"data_options", toJson(run.dataOptions)},
            {"hidden", run.hiddenWidths ? Json(*run.hiddenWidths) : Json()},
            {"activation", name(run.activation)},
            {"output_activation", name(run.outputActivation)},
            {"loss", run.loss ? Json(name(*run.loss)) : Json()},
            {"init", name(run.init)},
            {"settings", toJson(run.settings)},
            {"finish", finishJson(run.finish)},
            {"together", settings.together},
            {"lanes", lanes}};
}

RaceSettings raceSettingsFromJson(const Json& json) {
    requireKnown(json, "race", fields);
    RaceSettings settings;
    RunOptions& run = settings.run;
    readField(json, "data", [&](const Json& value) { run.data = dataFrom(value); });
    readField(json, "data_options", [&](const Json& value) { run.dataOptions = dataOptionsFrom(value); });
    readField(json, "hidden", [&](const Json& value) { run.hiddenWidths = hiddenFrom(value); });
    readField(json, "activation",
              [&](const Json& value) { run.activation = activationFromName(textOf(value)); });
    readField(json, "output_activation",
              [&](const Json& value) { run.outputActivation = activationFromName(textOf(value)); });
    readField(json, "loss", [&](const Json& value) {
        run.loss = value.is_null() ? std::nullopt : std::optional(lossFromName(textOf(value)));
    });
    readField(json, "init", [&](const Json& value) { run.init = initSchemeFromName(textOf(value)); });
    readField(json, "settings", [&](const Json& value) { run.settings = trainSettingsFrom(value); });
    readField(json, "finish", [&](const Json& value) { run.finish = finishFrom(value); });
    readField(json, "together", [&](const Json& value) {
        if (!value.is_boolean()) throw std::invalid_argument("true or false was expected");
        settings.together = value.get<bool>();
    });
    readField(json, "lanes", [&](const Json& value) { run.lanes = lanesFrom(value); });
    return settings;
}

std::string dataKey(const RaceSettings& settings) {
    DataOptions options = settings.run.dataOptions;
    options.seed = settings.run.settings.seed;
    Json key = toJson(options);
    key["data"] = settings.run.data;
    // Fashion-MNIST comes from its files alone: another seed needs no loading.
    if (settings.run.data == "fashion-mnist") key.erase("seed");
    return key.dump();
}

} // namespace lockstep::demos
