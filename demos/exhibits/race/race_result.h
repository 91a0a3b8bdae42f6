// The end of a race: podium, table, and results as files.
#pragma once

#include <string>
#include <vector>

#include "demos/draw/ui.h"
#include "demos/exhibits/race/race_model.h"

namespace lockstep::demos {

void drawResult(Ui& ui, const RaceRun* run);

/// Indices of the lanes whose numbers count, the fastest first: by the headline's measure.
std::vector<std::size_t> ranking(const RaceRun& run);

} // namespace lockstep::demos
