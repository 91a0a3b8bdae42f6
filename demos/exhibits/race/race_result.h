// The result of a race.
#pragma once

#include "demos/draw/ui.h"
#include "demos/exhibits/race/race_model.h"

namespace lockstep::demos {

/// As much of the result as the window's room allows, what matters most first.
void drawResult(Ui& ui, const RaceRun& run);

} // namespace lockstep::demos
