// The network drawn small, layers as columns, with what an operation works on lit up.
#pragma once

#include "demos/draw/ui.h"
#include "engine/net/net_shape.h"
#include "engine/step/step_trace.h"

namespace lockstep::demos {

/// Draws into `size` at the cursor.
/// phase   0 to 1: how far a signal has come along the links; below 0: nothing moves
void drawNet(Ui& ui, const NetShape& shape, const TracedOperation& operation, float phase, ImVec2 size);

} // namespace lockstep::demos
