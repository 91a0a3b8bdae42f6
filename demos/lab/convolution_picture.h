// How im2col unfolds a picture, a window at a time.
#pragma once

#include <imgui.h>

#include "demos/draw/ui.h"

namespace lockstep::demos {

/// A picture of 4×4 pixels and the matrix that it is unfolded to: the window moves, and writes a row of nine
/// pixels at each place. One pixel stands out wherever it is copied to.
///   at, size   of both, with a caption below
void drawUnfolding(const Ui& ui, ImVec2 at, ImVec2 size, double seconds);

} // namespace lockstep::demos
