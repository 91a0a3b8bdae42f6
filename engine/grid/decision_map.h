// What every machine that draws a population's decision maps has to agree on.
#pragma once

#include <vector>

#include "engine/grid/population.h"

namespace lockstep {

/// Throws std::invalid_argument, with what is possible, when the options make no sense or do not fit the
/// job's networks.
void validateDecisionMap(const DecisionMapOptions& options, const PopulationJob& job);

/// The networks' inputs at the middles of a tile's pixels, row by row from the top: [cells * cells][inputs].
std::vector<float> decisionMapPoints(const DecisionMapOptions& options);

} // namespace lockstep
