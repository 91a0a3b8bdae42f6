// The results of `lockstep population`: for people, as JSON (docs/json.md) and as CSV.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/report/headline.h"
#include "demos/report/population_result.h"
#include "engine/grid/population_grid.h"

namespace lockstep::demos {

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

} // namespace lockstep::demos
