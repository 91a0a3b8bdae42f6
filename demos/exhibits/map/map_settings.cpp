#include "demos/exhibits/map/map_settings.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/options/map_options.h"
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

void writePlace(ordered_json& json, const MapJob& job, const MapWindow& window) {
    json["axes"] = name(job.axes);
    json["network"] = {job.inputs, job.hidden};
    json["activation"] = name(job.activation);
    json["examples"] = job.examples;
    json["steps"] = job.steps;
    json["seed"] = job.seed;
    json["window"] = {window.left, window.right, window.bottom, window.top};
}

MapJob readJob(const ordered_json& json) {
    const MapJob first = firstMapSettings().job;
    MapJob job;
    job.axes = mapAxesFromName(jsonValueOr(json, "axes", std::string(name(first.axes))));
    const auto network = jsonValueOr(json, "network", std::vector<std::size_t>{first.inputs, first.hidden});
    if (network.size() != 2)
        throw std::invalid_argument("the field 'network' must have two numbers: inputs and hidden neurons");
    job.inputs = network[0];
    job.hidden = network[1];
    job.activation = activationFromName(jsonValueOr(json, "activation", std::string(name(first.activation))));
    job.examples = jsonValueOr(json, "examples", first.examples);
    job.steps = jsonValueOr(json, "steps", first.steps);
    job.seed = jsonValueOr(json, "seed", first.seed);
    job.validate();
    return job;
}

MapWindow readWindow(const ordered_json& json, MapAxes axes) {
    const MapWindow first = wholeWindow(axes);
    const auto edges =
        jsonValueOr(json, "window", std::vector<double>{first.left, first.right, first.bottom, first.top});
    if (edges.size() != 4)
        throw std::invalid_argument("the field 'window' must have four numbers: left, right, bottom, top");
    const MapWindow window{edges[0], edges[1], edges[2], edges[3]};
    validateWindow(window);
    return window;
}

std::vector<MapBookmark> readBookmarks(const ordered_json& json) {
    std::vector<MapBookmark> bookmarks;
    const auto found = json.find("bookmarks");
    if (found == json.end()) return bookmarks;
    if (!found->is_array()) throw std::invalid_argument("the field 'bookmarks' must be a list");
    for (const ordered_json& each : *found) {
        const MapJob job = readJob(each);
        bookmarks.push_back({jsonValue<std::string>(each, "name"), job, readWindow(each, job.axes)});
    }
    return bookmarks;
}

} // namespace

MapSettings firstMapSettings() {
    const MapPreset& preset = mapPresets().front();
    MapSettings settings;
    settings.job = preset.job;
    settings.window = preset.window;
    return settings;
}

MapWindow wholeWindow(MapAxes axes) {
    const auto fits = [axes](const MapPreset& preset) { return preset.job.axes == axes; };
    const auto found = std::ranges::find_if(mapPresets(), fits);
    return found == mapPresets().end() ? MapWindow{} : found->window;
}

void MapSettings::validate() const {
    job.validate();
    validateWindow(window);
    if (resolution != 0 && std::ranges::find(resolutions, resolution) == std::end(resolutions))
        throw std::invalid_argument(fmt::format(
            "a map's picture has 256, 512 or 1,024 pixels a side, or 0 to fit; not {}", resolution));
    if (bookmarks.size() > mostBookmarks)
        throw std::invalid_argument(fmt::format("a map has at most {} bookmarks", mostBookmarks));
}

ordered_json toJson(const MapSettings& settings) {
    ordered_json json;
    writePlace(json, settings.job, settings.window);
    json["picture"] = settings.resolution;
    json["cpu"] = settings.cpu;
    ordered_json& bookmarks = json["bookmarks"] = ordered_json::array();
    for (const MapBookmark& bookmark : settings.bookmarks) {
        ordered_json entry{{"name", bookmark.name}};
        writePlace(entry, bookmark.job, bookmark.window);
        bookmarks.push_back(std::move(entry));
    }
    return json;
}

MapSettings mapSettingsFromJson(const ordered_json& json) {
    if (!json.is_object()) throw std::invalid_argument("the state of 'map' must be an object");
    const MapSettings first = firstMapSettings();
    MapSettings settings;
    settings.job = readJob(json);
    settings.window = readWindow(json, settings.job.axes);
    settings.resolution = jsonValueOr(json, "picture", first.resolution);
    settings.cpu = jsonValueOr(json, "cpu", first.cpu);
    settings.bookmarks = readBookmarks(json);
    settings.validate();
    return settings;
}

} // namespace lockstep::demos
