// A population's results for other programs. docs/json.md describes them.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/report/headline.h"
#include "demos/report/population_result.h"
#include "engine/grid/population_grid.h"

namespace lockstep::demos {

/// In the shape of docs/json.md. What is not known is null.
nlohmann::ordered_json populationJson(const PopulationGrid& grid,
                                      const std::vector<PopulationLaneResult>& results,
                                      const Headline& headline);

/// A header, then one row per lane and network; what is not known, or not looked at, is empty.
std::string populationCsv(const PopulationGrid& grid, const std::vector<PopulationLaneResult>& results);

} // namespace lockstep::demos
