#include "demos/exhibits/inside/inside_settings.h"

#include <charconv>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/options/run_options.h"

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

template <class T> T field(const nlohmann::ordered_json& json, const char* name, const T& otherwise) {
    const auto found = json.find(name);
    if (found == json.end()) return otherwise;
    try {
        return found->get<T>();
    } catch (const nlohmann::json::exception&) {
        throw std::invalid_argument(fmt::format("the field '{}' of 'inside' has the wrong type", name));
    }
}

LaneSpec laneField(const nlohmann::ordered_json& json, const char* name, const LaneSpec& otherwise) {
    LaneSpec spec = laneSpecFromText(field<std::string>(json, name, otherwise.text()));
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
    settings.data = field(json, "data", first.data);
    settings.hidden = field(json, "hidden", first.hidden);
    settings.activation = activationFromName(field(json, "activation", std::string(name(first.activation))));
    settings.optimizer = optimizerFromName(field(json, "optimizer", std::string(name(first.optimizer))));
    settings.batch = field(json, "batch", first.batch);
    settings.seed = field(json, "seed", first.seed);
    settings.lanes[0] = laneField(json, "cpu", first.lanes[0]);
    settings.lanes[1] = laneField(json, "gpu", first.lanes[1]);
    settings.validate();
    return settings;
}

std::vector<std::size_t> hiddenFromText(const std::string& text) {
    std::vector<std::size_t> hidden;
    const char* at = text.data();
    const char* const end = at + text.size();
    const auto skip = [&] {
        while (at != end && (*at == ' ' || *at == ',')) ++at;
    };
    for (skip(); at != end; skip()) {
        std::size_t width = 0;
        const auto [next, error] = std::from_chars(at, end, width);
        if (error != std::errc{})
            throw std::invalid_argument("hidden layers are written as numbers, such as 256, 128; not '" +
                                        text + "'");
        hidden.push_back(width);
        at = next;
    }
    return hidden;
}

std::string hiddenText(const std::vector<std::size_t>& hidden) {
    return fmt::format("{}", fmt::join(hidden, ", "));
}

} // namespace lockstep::demos
