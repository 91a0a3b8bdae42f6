// The mosaic's words.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "demos/exhibits/mosaic/mosaic_model.h"
#include "engine/grid/population_grid.h"

namespace lockstep::demos {

/// "GPU", "CPU" or "Vulkan in software".
std::string sideName(const MosaicSide& side);

/// How many networks each side has trained, in what time; empty before the first step.
std::string headline(const std::vector<MosaicSide>& sides, const PopulationSpec& spec);

/// Of one network, for people: "loss", "0.0123" and so on.
using NamedValues = std::vector<std::pair<std::string, std::string>>;
NamedValues memberValues(const PopulationSpec& spec, std::size_t member, const MemberResult& result);
/// Its outcome: "trained for 1,200 of 2,000 steps", "diverged: its loss was no longer finite at step
/// 37".
std::string memberState(const PopulationSpec& spec, const MemberResult& result);

/// What all networks share: "2-8-8-1 tanh, bce, sgd, batch 16"; without what is on an axis.
std::string sharedText(const PopulationGrid& grid);

} // namespace lockstep::demos
