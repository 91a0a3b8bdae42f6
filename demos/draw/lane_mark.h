// The second cue beside a machine's colour.
#pragma once

#include <imgui.h>

#include "engine/step/lane_spec.h"

namespace lockstep::demos {

/// A square chip for a processor, a diamond for a graphics card.
void drawLaneMark(ImDrawList& draw, const LaneSpec& lane, ImVec2 centre, float size, ImU32 colour);

} // namespace lockstep::demos
