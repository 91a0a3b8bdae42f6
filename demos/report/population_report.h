// The results of `lockstep population`: what a lane has done, for people, as JSON (docs/json.md), as CSV and
// as a picture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/draw/png.h"
#include "demos/report/lane_report.h"
#include "engine/grid/population_grid.h"

namespace lockstep::demos {

/// The share of the networks whose losses after so many steps are those of another lane.
struct AgreedShare {
    std::uint64_t steps = 0;
    double share = 0;
};

/// Whether a lane computed the same as the reference. All lanes start every network from the same weights, so
/// a wrong kernel shows at once and in all networks; but at the edge of what trains at all, where a
/// population likes to be, a network multiplies rounding from step to step, and soon two runs of it differ
/// through no fault of either. So the networks' first steps decide, most of them are enough, and the rest is
/// reported.
struct PopulationAgreement {
    std::vector<AgreedShare> shares; ///< after 1, 10 and 100 steps; empty: nothing to compare
    bool same() const;

    static constexpr double tolerance = 1e-4; ///< relative, of the losses of a batch
    static constexpr std::uint64_t decisiveSteps = 10;
    static constexpr double decisiveShare = 0.9;
};

/// All networks after so many steps each.
struct OpeningResult {
    std::uint64_t steps = 0;
    std::vector<MemberResult> members;
};

struct PopulationLaneResult : LaneReport {
    std::vector<MemberResult> members; ///< empty where it did not start or failed
    PopulationSummary summary;
    std::vector<OpeningResult> opening; ///< after each of openingSteps(); empty: not checked
    PopulationAgreement agreement;
    std::vector<std::uint32_t> maps; ///< Population::decisionMaps, where a picture was asked for

    double networkStepsPerSecond() const;
    double networksPerSecond() const; ///< that came to their end
    /// Its numbers may be compared: all networks came to their end, and it computed the same as the others.
    bool counts() const { return end.status == LaneStatus::finished && agreement.same(); }
};

/// After which of a network's steps lanes are compared: 1, 10 and 100, and no more than there are.
std::vector<std::uint64_t> openingSteps(std::uint64_t steps);

/// Fills in every result's agreement with the first lane of the processor that was checked, or else with the
/// first lane that was.
void addAgreements(std::vector<PopulationLaneResult>& results);

/// What is about to be trained, in three lines: data and networks, axes, settings.
std::string populationText(const PopulationGrid& grid);

/// One row per lane with its numbers, in 110 columns; then a line per lane on its best network, on what ran
/// where, and on why it ended early.
std::string populationResultText(const PopulationSpec& spec,
                                 const std::vector<PopulationLaneResult>& results);

/// A line per lane that was compared: "same mathematics: gpu:best agrees within 1e-04 in 100 % of the
/// networks after 1 step, ..."; empty where none was.
std::string agreementText(const std::vector<PopulationLaneResult>& results);

/// As headlineFor(results, ...) of a race: by network-steps per second.
Headline headlineFor(const std::vector<PopulationLaneResult>& results);

/// In the shape of docs/json.md. What is not known is null.
nlohmann::ordered_json populationJson(const PopulationGrid& grid,
                                      const std::vector<PopulationLaneResult>& results,
                                      const Headline& headline);

/// A header, then one row per lane and network; what is not known, or not looked at, is empty.
std::string populationCsv(const PopulationGrid& grid, const std::vector<PopulationLaneResult>& results);

/// What has to be drawn of every lane's networks for the picture; nothing where their inputs are not the
/// points of a plane, or where so many networks leave no room for maps.
std::optional<DecisionMapOptions> pictureMaps(const PopulationGrid& grid);

/// A line per lane: its name, machine and rate; the mosaic of decision maps, where there is one, and a
/// heat-map of the final losses (logarithmic, the best ones bright), both with the axes' values at their
/// edges. Networks that diverged are dark in both.
Pixels populationPicture(const PopulationGrid& grid, const std::vector<PopulationLaneResult>& results);

} // namespace lockstep::demos
