// The playground's settings as JSON. Own points are [x, y, class] or [x, y, value].
#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/exhibits/playground/playground_settings.h"
#include "engine/files/json_field.h"
#include "engine/net/names.h"
#include "engine/run/settings_json.h"

namespace lockstep::demos {

namespace {

using nlohmann::ordered_json;

ordered_json ownToJson(const PlaygroundSettings& settings) {
    ordered_json points = ordered_json::array();
    for (const LabelledPoint& point : settings.own) {
        if (settings.ownValues)
            points.push_back({point.x, point.y, point.target});
        else
            points.push_back({point.x, point.y, point.label});
    }
    return points;
}

LabelledPoint ownFromJson(const ordered_json& json, bool values) {
    const bool fits = json.is_array() && json.size() == 3 && json[0].is_number() && json[1].is_number() &&
                      (values ? json[2].is_number() : json[2].is_number_unsigned());
    if (!fits)
        throw std::invalid_argument(
            fmt::format("the field 'own' must have points [x, y, {}]", values ? "value" : "class from 0"));
    LabelledPoint point{json[0].get<float>(), json[1].get<float>(), 0, 0};
    if (values)
        point.target = json[2].get<float>();
    else
        point.label = static_cast<std::uint32_t>(std::min<std::uint64_t>(json[2].get<std::uint64_t>(), 1000));
    return point;
}

std::vector<PlaneFeature> featuresFromJson(const ordered_json& json) {
    std::vector<PlaneFeature> features;
    for (const std::string& feature : jsonValue<std::vector<std::string>>(json, "features"))
        features.push_back(planeFeatureFromName(feature));
    std::ranges::sort(features);
    return features;
}

} // namespace

ordered_json toJson(const PlaygroundSettings& settings) {
    ordered_json features = ordered_json::array();
    for (const PlaneFeature feature : settings.features) features.push_back(name(feature));
    return {{"data", settings.data},
            {"noise", settings.noise},
            {"samples", settings.samples},
            {"train_share", settings.trainShare},
            {"data_seed", settings.dataSeed},
            {"own", ownToJson(settings)},
            {"own_values", settings.ownValues},
            {"features", features},
            {"hidden", settings.hidden},
            {"activation", name(settings.activation)},
            {"output_activation", name(settings.outputActivation)},
            {"loss", name(settings.loss)},
            {"init", name(settings.init)},
            {"train", toJson(settings.train)},
            {"lane", settings.lane}};
}

PlaygroundSettings playgroundSettingsFromJson(const ordered_json& given) {
    PlaygroundSettings settings;
    ordered_json json = jsonCompleted(toJson(settings), given, "playground");
    settings.data = jsonValue<std::string>(json, "data");
    settings.noise = jsonValue<double>(json, "noise");
    settings.samples = jsonValue<std::size_t>(json, "samples");
    settings.trainShare = jsonValue<double>(json, "train_share");
    settings.dataSeed = jsonValue<std::uint64_t>(json, "data_seed");
    settings.ownValues = jsonValue<bool>(json, "own_values");
    for (const ordered_json& point : json["own"])
        settings.own.push_back(ownFromJson(point, settings.ownValues));
    settings.features = featuresFromJson(json);
    settings.hidden = jsonValue<std::vector<std::size_t>>(json, "hidden");
    settings.activation = activationFromName(jsonValue<std::string>(json, "activation"));
    settings.outputActivation = activationFromName(jsonValue<std::string>(json, "output_activation"));
    settings.loss = lossFromName(jsonValue<std::string>(json, "loss"));
    settings.init = initSchemeFromName(jsonValue<std::string>(json, "init"));
    settings.train = trainSettingsFromJson(json["train"]);
    settings.lane = jsonValue<std::string>(json, "lane");
    settings.validate();
    return settings;
}

} // namespace lockstep::demos
