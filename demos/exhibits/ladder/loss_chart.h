// The losses of the network's training, rung by rung.
#pragma once

#include "demos/draw/plot.h"
#include "demos/draw/ui.h"
#include "demos/exhibits/ladder/ladder_model.h"

namespace lockstep::demos {

/// Draws the losses of the network's training, a line for every rung that trained it; faint: of the run
/// before.
void drawLosses(Ui& ui, const LadderModel& model, Plot& plot);

} // namespace lockstep::demos
