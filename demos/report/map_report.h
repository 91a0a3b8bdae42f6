// The results of `lockstep map`: for people, as JSON (docs/json.md) and as CSV.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/draw/png.h"
#include "demos/options/map_options.h"
#include "demos/report/lane_report.h"

namespace lockstep::demos {

/// In how many of the pixels that both have trained the networks ended in the same way.
struct MapAgreement {
    std::size_t both = 0;
    std::size_t sameEnding = 0; ///< both converged, or both did not
    std::size_t alike = 0;      ///< and their outcomes are within 1 %
    std::size_t identical = 0;  ///< to the last bit

    /// A pixel that both have trained, and how its network ended on each.
    void add(MapOutcome first, MapOutcome second);
    double share() const; ///< of the same ending; NaN without pixels
    /// Whether at most 5 % of the pixels end differently; true without pixels to compare. At the boundary,
    /// rounding decides; elsewhere, the same mathematics ends in the same way.
    bool same() const { return both == 0 || share() >= decisiveShare; }

    static constexpr double decisiveShare = 0.95;
};

struct MapResult : LaneReport {
    std::vector<MapOutcome> outcomes; ///< per pixel, those from `trained` on mean nothing
    std::size_t trained = 0;          ///< pixels, from the first on
    MapAgreement agreement;           ///< with the first lane that trained any

    /// NaN where the lane ended before.
    MapOutcome outcome(std::size_t pixel) const;
    std::span<const MapOutcome> trainedOutcomes() const { return std::span(outcomes).first(trained); }
    double networksPerSecond() const;
    /// Its numbers may be compared: it came to the end, and computed the same as the first that trained.
    bool counts() const {
        return end.status == LaneStatus::finished && agreement.both > 0 && agreement.same();
    }
    std::size_t converged() const;
    std::size_t diverged() const { return trained - converged(); }
};

/// Trains a network per pixel, for about so many milliseconds at a time; in between, `goOn` ends it with
/// false. What the machine throws goes through; the pixels before it stay.
void trainMap(const MapRequest& request, MapTrainer& trainer, MapResult& lane, double millisecondsAtATime,
              const std::function<bool()>& goOn);

/// Compares pixels that both have trained, in the same order.
MapAgreement agreementOf(std::span<const MapOutcome> first, std::span<const MapOutcome> second);

/// Fills in every lane's agreement with the first that trained, which all texts below need.
void addAgreements(std::vector<MapResult>& lanes);

/// What is going to be trained, and where the zoom ends.
std::string mapRequestText(const MapRequest& request);

/// A row per lane, and how far they agree with the first that trained.
std::string mapResultText(const MapRequest& request, const std::vector<MapResult>& lanes);

/// A line per lane but that one: in how many pixels it agrees with it, and what that means. Empty
/// where there is nothing to compare.
std::string agreementText(const std::vector<MapResult>& lanes);

/// As headlineFor(results, ...) of a race: by networks per second.
Headline headlineFor(const std::vector<MapResult>& lanes);

/// At least one lane.
nlohmann::ordered_json mapJson(const MapRequest& request, const std::vector<MapResult>& lanes,
                               const Headline& headline);

/// "column,row,x,y,cpu:best,gpu:best": a row per pixel, and an outcome per lane, empty where it was not
/// trained.
std::string mapCsv(const MapRequest& request, const std::vector<MapResult>& lanes);

/// A pixel per network, in its outcome's colour.
Pixels mapPicture(const MapRequest& request, const MapResult& lane);

} // namespace lockstep::demos
