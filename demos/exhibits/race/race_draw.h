// Small things that all panels of the race draw alike.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "demos/draw/icons.h"
#include "demos/draw/ui.h"
#include "engine/step/lane_spec.h"

namespace lockstep::demos {

/// Lane `index` of several: its machine's colour, the second lane of a machine a shade nearer to the text.
ImU32 laneColour(const Ui& ui, std::span<const LaneSpec> lanes, std::size_t index);

/// With "…" for what is wider than `width` pixels in the current font.
std::string fitted(std::string_view text, float width);

/// A rounded panel of that size at the cursor, which moves below it.
struct Panel {
    ImVec2 min;
    ImVec2 max;
};
Panel drawPanel(Ui& ui, float height);

} // namespace lockstep::demos
