// What a map shows, and the same as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/options/map_options.h"

namespace lockstep::demos {

/// A place to return to.
struct MapBookmark : MapPlace {
    std::string name;

    bool operator==(const MapBookmark&) const = default;
};

/// Its window is the wanted one: a picture of another form shows more.
struct MapSettings : MapPlace {
    static constexpr std::uint32_t resolutions[] = {256, 512, 1024, 0};
    static constexpr std::size_t mostBookmarks = 100;

    std::uint32_t resolution = 512; ///< pixels along both sides; 0: as many as the window has room for
    bool cpu = true;                ///< the processor paints the same beside it
    std::vector<MapBookmark> bookmarks;

    /// The first of the presets.
    MapSettings() : MapPlace(mapPresets().front().place()) {}
    /// Throws std::invalid_argument naming what makes no sense.
    void validate() const;
    bool operator==(const MapSettings&) const = default;
};

/// All of the plane that matters with these axes.
MapWindow wholeWindow(MapAxes axes);

/// {"axes": "rates", "network": [8, 8], "activation", "examples", "steps", "seed", "window": [left, right,
/// bottom, top], "picture": 512, "cpu", "bookmarks": [{"name", "axes", ..., "window"}]}; network is inputs
/// and hidden neurons, picture 0 is to fit.
nlohmann::ordered_json toJson(const MapSettings& settings);
/// What is missing is as at the first start. Throws std::invalid_argument naming the field.
MapSettings mapSettingsFromJson(const nlohmann::ordered_json& json);

} // namespace lockstep::demos
