// The lanes as cards: who, where on the track, and the numbers.
#pragma once

#include <span>
#include <vector>

#include "demos/draw/ui.h"
#include "demos/exhibits/race/race_model.h"

namespace lockstep::demos {

/// The lanes of `run`; before the first race, `specs` at their start.
void drawLanes(Ui& ui, const RaceRun* run, std::span<const LaneSpec> specs);

} // namespace lockstep::demos
