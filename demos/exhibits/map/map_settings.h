// What a map shows, and the same as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/grid/map.h"

namespace lockstep::demos {

/// A place that a person wants to find again.
struct MapBookmark {
    std::string name;
    MapJob job;
    MapWindow window;

    bool operator==(const MapBookmark&) const = default;
};

struct MapSettings {
    static constexpr std::uint32_t resolutions[] = {256, 512, 1024};
    static constexpr std::size_t mostBookmarks = 100;

    MapJob job;
    MapWindow window;               ///< as wanted: a picture of another form shows more
    std::uint32_t resolution = 512; ///< pixels along both sides; 0: as many as the window has room for
    bool cpu = true;                ///< the processor paints the same beside it
    std::vector<MapBookmark> bookmarks;

    /// Throws std::invalid_argument naming what makes no sense.
    void validate() const;
    bool operator==(const MapSettings&) const = default;
};

/// The first of the presets.
MapSettings firstMapSettings();
/// All of the plane that matters with these axes.
MapWindow wholeWindow(MapAxes axes);

/// {"axes": "rates", "network": [8, 8], "activation", "examples", "steps", "seed", "window": [left, right,
/// bottom, top], "picture": 512, "cpu", "bookmarks": [{"name", "axes", ..., "window"}]}; network is inputs
/// and hidden neurons, picture 0 is to fit.
nlohmann::ordered_json toJson(const MapSettings& settings);
/// What is missing is as at the first start. Throws std::invalid_argument naming the field.
MapSettings mapSettingsFromJson(const nlohmann::ordered_json& json);

} // namespace lockstep::demos
