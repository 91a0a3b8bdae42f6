// A population as a picture: what every network answers over the plane, and how small its loss became.
#pragma once

#include <optional>
#include <vector>

#include "demos/draw/png.h"
#include "demos/report/population_result.h"
#include "engine/grid/population_grid.h"

namespace lockstep::demos {

/// What has to be drawn of every lane's networks for the picture; nothing where their inputs are not the
/// points of a plane, or where so many networks leave no room for maps.
std::optional<DecisionMapOptions> pictureMaps(const PopulationGrid& grid);

/// A line per lane: its name, machine and rate; the mosaic of decision maps, where there is one, and a
/// heat-map of the final losses (logarithmic, the best ones bright), both with the axes' values at their
/// edges. Networks that diverged are dark in both.
Pixels populationPicture(const PopulationGrid& grid, const std::vector<PopulationLaneResult>& results);

} // namespace lockstep::demos
