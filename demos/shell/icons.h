// Transport signs, drawn: no font has all of them.
#pragma once

#include <imgui.h>

namespace lockstep::demos {

class Ui;

using DrawIcon = void (*)(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour);

void drawPlay(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour);
void drawPause(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour);
void drawStep(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour);
void drawReset(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour);
void drawDice(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour);

/// A button with a sign before its label; its name is the label. `primary` fills it.
bool iconButton(Ui& ui, const char* label, DrawIcon icon, bool primary, bool enabled = true);

} // namespace lockstep::demos
