// Source texts as exhibits show them: a scrolled pane of lines in letters of one width, with their numbers.
#pragma once

#include <cstddef>
#include <string_view>

#include "demos/draw/ui.h"

namespace lockstep::demos {

/// Everything until endSourcePane() is drawn in a framed pane that scrolls, in letters of one width, line
/// below line. width and height 0: all there is.
void beginSourcePane(Ui& ui, const char* id, ImVec2 size);
void endSourcePane();

/// Draws one line of a pane, comments muted, and returns where it begins. Its number, counted from 1, stays in
/// the gutter on the left, `gutter` pixels wide, while the text scrolls to the side. `quiet` texts are muted.
ImVec2 drawSourceLine(Ui& ui, std::size_t number, std::string_view line, float gutter, bool quiet = false);

} // namespace lockstep::demos
