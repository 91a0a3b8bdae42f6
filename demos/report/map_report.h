// The results of `lockstep map`: for people, as JSON (docs/json.md) and as CSV.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/report/race_report.h"
#include "engine/grid/map.h"

namespace lockstep::demos {

/// Of the pixels that both have trained, in how many the networks ended in the same way.
struct MapAgreement {
    std::size_t both = 0;
    std::size_t sameEnding = 0; ///< both converged, or both did not
    std::size_t alike = 0;      ///< and their outcomes are within 1 %
    std::size_t same = 0;       ///< to the last bit

    /// A pixel that both have trained, and how its network ended on each.
    void add(MapOutcome first, MapOutcome second);
    double share() const; ///< of the same ending; NaN without pixels
};

struct MapRequest {
    MapJob job;
    MapWindow window;
    std::uint32_t width = 0;
    std::uint32_t height = 0;

    std::size_t pixels() const { return std::size_t{width} * height; }
    /// Pixels are counted row by row from the top.
    MapPoint point(std::size_t pixel) const;
};

struct MapResult : LaneReport {
    std::vector<MapOutcome> outcomes; ///< per pixel, those from `trained` on mean nothing
    std::size_t trained = 0;          ///< pixels, from the first on

    /// NaN where the lane ended before.
    MapOutcome outcome(std::size_t pixel) const;
    double networksPerSecond() const;
    std::size_t converged() const;
    std::size_t diverged() const { return trained - converged(); }
};

/// Trains a network per pixel. `goOn` is told how many are done several times a second, and ends it with
/// false. What the machine throws goes through; the pixels before it stay.
void trainMap(const MapRequest& request, MapTrainer& trainer, MapResult& lane,
              const std::function<bool(std::size_t trained)>& goOn);

/// Of the pixels that both have trained.
MapAgreement agreementOf(const MapResult& first, const MapResult& second);

/// What is going to be trained, and where the zoom ends.
std::string mapRequestText(const MapRequest& request);

/// A row per lane, and how far they agree with the first.
std::string mapResultText(const MapRequest& request, const std::vector<MapResult>& lanes);

nlohmann::ordered_json mapJson(const MapRequest& request, const std::vector<MapResult>& lanes);

/// "column,row,x,y,cpu:best,gpu:best": a row per pixel, and an outcome per lane, empty where it was not
/// trained.
std::string mapCsv(const MapRequest& request, const std::vector<MapResult>& lanes);

} // namespace lockstep::demos
