// The line below: the latest message, and earlier ones behind a click.
#pragma once

#include "demos/draw/ui.h"

namespace lockstep::demos {

/// The height that the line takes from the panels above it. A presenter's exhibit has all of the height: what
/// is said lies over it while it is said.
float statusLineRoom(const Ui& ui);
/// Draws it at the window's lower edge.
void drawStatusLine(Ui& ui);

} // namespace lockstep::demos
