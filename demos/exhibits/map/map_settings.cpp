#include "demos/exhibits/map/map_settings.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/words/language.h"
#include "demos/words/text.h"
#include "engine/files/json_field.h"
#include "engine/net/names.h"

namespace lockstep::demos {

namespace {

using nlohmann::ordered_json;

void validateWindow(const MapWindow& window) {
    for (const double edge : {window.left, window.right, window.bottom, window.top})
        if (!(std::abs(edge) <= mapReach))
            throw std::invalid_argument(
                fmt::format("a map's window lies between -{0} and {0} decades, not at {1}", mapReach, edge));
    if (!(window.left < window.right) || !(window.bottom < window.top))
        throw std::invalid_argument("a map's window goes from left to right and from bottom to top");
}

void writePlace(ordered_json& json, const MapPlace& place) {
    const auto& [job, window] = place;
    json["axes"] = name(job.axes);
    json["network"] = {job.inputs, job.hidden};
    json["activation"] = name(job.activation);
    json["examples"] = job.examples;
    json["steps"] = job.steps;
    json["seed"] = job.seed;
    json["window"] = {window.left, window.right, window.bottom, window.top};
}

template <class Number>
std::vector<Number> readNumbers(const ordered_json& json, const char* field, std::vector<Number> usual,
                                const char* which) {
    std::vector<Number> numbers = jsonValueOr(json, field, usual);
    if (numbers.size() != usual.size())
        throw std::invalid_argument(fmt::format("the field '{}' must have {}", field, which));
    return numbers;
}

MapPlace readPlace(const ordered_json& json) {
    auto [job, window] = MapSettings().place();
    job.axes = mapAxesFromName(jsonValueOr(json, "axes", std::string(name(job.axes))));
    const auto network = readNumbers<std::size_t>(json, "network", {job.inputs, job.hidden},
                                                  "two numbers: inputs and hidden neurons");
    job.inputs = network[0];
    job.hidden = network[1];
    job.activation = activationFromName(jsonValueOr(json, "activation", std::string(name(job.activation))));
    job.examples = jsonValueOr(json, "examples", job.examples);
    job.steps = jsonValueOr(json, "steps", job.steps);
    job.seed = jsonValueOr(json, "seed", job.seed);
    job.validate();
    window = wholeWindow(job.axes);
    const auto edges =
        readNumbers<double>(json, "window", {window.left, window.right, window.bottom, window.top},
                            "four numbers: left, right, bottom, top");
    window = {edges[0], edges[1], edges[2], edges[3]};
    validateWindow(window);
    return {job, window};
}

} // namespace

MapWindow wholeWindow(MapAxes axes) {
    const auto fits = [axes](const MapPreset& preset) { return preset.job.axes == axes; };
    const auto found = std::ranges::find_if(mapPresets(), fits);
    if (found == mapPresets().end()) throw std::logic_error("axes that no preset shows");
    return found->window;
}

void MapSettings::validate() const {
    job.validate();
    validateWindow(window);
    if (std::ranges::find(resolutions, resolution) == std::end(resolutions))
        throw std::invalid_argument(fmt::format(
            "a map's picture has 256, 512 or 1,024 pixels a side, or 0 to fit; not {}", resolution));
    if (bookmarks.size() > mostBookmarks)
        throw std::invalid_argument(fmt::format("a map has at most {} bookmarks", mostBookmarks));
}

ordered_json toJson(const MapSettings& settings) {
    ordered_json json;
    writePlace(json, settings);
    json["picture"] = settings.resolution;
    json["cpu"] = settings.cpu;
    ordered_json& bookmarks = json["bookmarks"] = ordered_json::array();
    for (const MapBookmark& bookmark : settings.bookmarks)
        writePlace(bookmarks.emplace_back(ordered_json{{"name", bookmark.name}}), bookmark);
    return json;
}

MapSettings mapSettingsFromJson(const ordered_json& json) {
    if (!json.is_object()) throw std::invalid_argument("the state of 'map' must be an object");
    MapSettings settings;
    settings.place() = readPlace(json);
    settings.resolution = jsonValueOr(json, "picture", settings.resolution);
    settings.cpu = jsonValueOr(json, "cpu", settings.cpu);
    const ordered_json bookmarks = json.value("bookmarks", ordered_json::array());
    if (!bookmarks.is_array()) throw std::invalid_argument("the field 'bookmarks' must be a list");
    for (const ordered_json& each : bookmarks)
        settings.bookmarks.push_back({readPlace(each), jsonValue<std::string>(each, "name")});
    settings.validate();
    return settings;
}

AxisName acrossName(MapAxes axes) {
    if (axes == MapAxes::rates) return {"learning rate of layer 1", "rate, layer 1"};
    return {"learning rate", "rate"};
}

AxisName upName(MapAxes axes) {
    if (axes == MapAxes::rates) return {"learning rate of layer 2", "rate, layer 2"};
    return {"initial weight scale", "scale"};
}

std::string hyperparameterText(double logarithm, double decades) {
    const double needed = 1 - std::floor(std::log10(std::max(decades, 1e-12)));
    const int digits = std::clamp(static_cast<int>(needed), 2, 9);
    const std::string shown = fmt::format("{:.{}g}", std::pow(10.0, logarithm), digits);
    const double value = std::stod(shown);
    if (value < 1e-4 || value >= 1e8) return scientific(value, digits);
    // No power of ten where people read the number itself, and thousands apart.
    const int decimals = std::max(digits - 1 - static_cast<int>(std::floor(logarithm)), 0);
    std::string text = fmt::format("{:.{}f}", value, decimals);
    if (decimals > 0) text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    const std::size_t point = std::min(text.find('.'), text.size());
    return grouped(std::stoull(text.substr(0, point))) + withDecimalSign(text.substr(point));
}

std::string endingText(const MapJob& job, MapOutcome outcome) {
    if (std::isnan(outcome)) return "not trained yet";
    if (outcome >= 0)
        return translatedFormat("converged: mean loss {} % of initial",
                                twoDigits(100 * static_cast<double>(outcome)));
    if (-outcome >= static_cast<float>(job.steps)) return "no better at the end than at the start";
    return translatedFormat("diverged at step {:.0f}", std::ceil(-outcome));
}

std::string agreementText(const MapAgreement& agreement) {
    if (agreement.both == 0) return "Nothing to compare.";
    const auto share = [&](std::size_t pixels) {
        return percent(static_cast<double>(pixels) / static_cast<double>(agreement.both));
    };
    if (agreement.identical == agreement.both)
        return "CPU and GPU computed the same result for every network, to the last bit.";
    return translatedFormat(
        "On CPU and GPU, {} of the networks ended the same way: both converged or both did not. "
        "For {}, even the results are within 1 %. Near the boundary, rounding decides.",
        share(agreement.sameEnding), share(agreement.alike));
}

} // namespace lockstep::demos
