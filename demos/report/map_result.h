// A map as one lane trains it, row by row.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "demos/report/map_agreement.h"
#include "engine/grid/map.h"
#include "engine/run/lane.h"
#include "engine/step/lane_spec.h"

namespace lockstep::demos {

struct MapRequest {
    MapJob job;
    MapWindow window;
    std::uint32_t width = 0;
    std::uint32_t height = 0;

    std::size_t pixels() const { return std::size_t{width} * height; }
    /// Pixels are counted row by row from the top.
    MapPoint point(std::size_t pixel) const;
};

struct MapResult {
    LaneSpec spec;
    MachineInfo machine; ///< empty where it could not be made
    LaneStatus status = LaneStatus::waiting;
    std::string message;              ///< why it failed
    std::vector<MapOutcome> outcomes; ///< per pixel, those from `trained` on mean nothing
    std::size_t trained = 0;          ///< pixels, from the first on
    double seconds = 0;               ///< of training, end to end
    double warmUpSeconds = 0;         ///< uploads, compilation

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

} // namespace lockstep::demos
