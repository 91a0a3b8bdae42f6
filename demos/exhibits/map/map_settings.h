// What a map shows, the same as JSON, and its words for networks and their places.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/options/map_options.h"
#include "demos/report/map_report.h"

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

    std::uint32_t resolution = 0; ///< pixels along both sides; 0: as many as the window has room for
    bool cpu = true;              ///< the processor paints the same beside it
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

/// An axis, at length and where there is little room: "learning rate of layer 1", "rate, layer 1".
struct AxisName {
    const char* full;
    const char* brief;
};
AxisName acrossName(MapAxes axes);
AxisName upName(MapAxes axes);

/// A hyperparameter from its decimal logarithm, with as many digits as neighbours need that lie `decades`
/// apart: "0.001", "12", "1.0372e+05".
std::string hyperparameterText(double logarithm, double decades);
/// "converged: mean loss 3 % of the first", "diverged at step 12", "no better at the end than at the
/// beginning", "not trained yet" (NaN).
std::string endingText(const MapJob& job, MapOutcome outcome);

/// How many networks ended alike on two machines, and why not all of them. The first sentence says it, too.
std::string agreementText(const MapAgreement& agreement);

} // namespace lockstep::demos
