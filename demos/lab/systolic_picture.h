// A picture of a matrix unit at work.
#pragma once

#include <imgui.h>

#include "demos/draw/ui.h"

namespace lockstep::demos {

/// A grid of multiply-adders at work on a product of two 6 x 6 matrices: rows of A come from the left,
/// columns of B from above, each one beat later than the one before; every cell adds one product per beat.
void drawSystolicArray(Ui& ui, ImVec2 size, double seconds);

} // namespace lockstep::demos
