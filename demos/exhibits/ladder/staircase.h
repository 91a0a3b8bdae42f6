// All rungs as a staircase: bars as long as they are fast, on a scale of powers of ten. A click picks one.
#pragma once

#include <optional>

#include "demos/draw/ui.h"
#include "demos/exhibits/ladder/ladder_model.h"

namespace lockstep::demos {

/// Draws the rungs, the lowest at the bottom, so close that `height` pixels hold them, as far as they can be
/// read then. Returns the one that was clicked.
std::optional<std::size_t> drawStaircase(Ui& ui, const LadderModel& model, float height);

} // namespace lockstep::demos
