// What a plot says about the place under the mouse.
#pragma once

#include "demos/draw/plot_frame.h"

namespace lockstep::demos {

/// The hairline under the mouse and every line's value there.
void drawReadout(const PlotFrame& frame, const PlotOptions& options, float mouseX);

} // namespace lockstep::demos
