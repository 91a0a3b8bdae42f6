// Signs that are drawn, because no font has all of them: transport, and the second cue beside a machine's
// colour.
#pragma once

#include <string_view>

#include <imgui.h>

#include "engine/step/lane_spec.h"

namespace lockstep::demos {

/// A square chip for a processor, a diamond for a graphics card.
void drawLaneMark(ImDrawList& draw, const LaneSpec& lane, ImVec2 centre, float size, ImU32 colour);

class Ui;

enum class Icon { run, pause, kernel, step, epoch, reset, dice, panel, back, next };

/// Pointing down: there is a list to open.
void drawChevron(const Ui& ui, ImDrawList& draw, ImVec2 centre, ImU32 colour);

struct IconButtonOptions {
    bool primary = false;  ///< filled: the main button, or one that is down
    bool signOnly = false; ///< the label appears under the mouse
    bool enabled = true;
};

/// A button with a sign before its label; its name is the label.
bool iconButton(Ui& ui, const char* label, std::string_view words, Icon icon, IconButtonOptions options = {});
float iconButtonWidth(const Ui& ui, const char* label, IconButtonOptions options);
/// Width of the sign with the gap behind it.
float iconRoom(const Ui& ui);

} // namespace lockstep::demos
