// Cells and letters, of which several experiments make their pictures.
#pragma once

#include <string_view>

#include <imgui.h>

#include "demos/draw/ui.h"

namespace lockstep::demos {

/// Text on a line; `share` of its width lies on the left of `at` (0: it begins there, 0.5: it is centred).
inline void labText(ImDrawList& draw, ImVec2 at, std::string_view text, ImU32 colour, float share = 0) {
    draw.AddText({at.x - share * textWidth(text), at.y}, colour, text.data(), text.data() + text.size());
}

/// Filled where something happens; an outline where it does not.
inline void labCell(const Ui& ui, ImDrawList& draw, ImVec2 min, ImVec2 max, ImU32 colour, bool filled) {
    if (filled)
        draw.AddRectFilled(min, max, colour, ui.px(2));
    else
        draw.AddRect(min, max, faded(colour, 0.5f), ui.px(2), 0, ui.line());
}

/// The same with a text, if the cell has room for it.
inline void labCell(const Ui& ui, ImDrawList& draw, ImVec2 min, ImVec2 max, ImU32 colour, bool filled,
                    std::string_view text) {
    labCell(ui, draw, min, max, colour, filled);
    const float letters = ImGui::GetFontSize();
    if (textWidth(text) > max.x - min.x + ui.px(3) || letters > max.y - min.y + ui.px(2)) return;
    labText(draw, {(min.x + max.x) / 2, (min.y + max.y - letters) / 2}, text,
            filled ? ui.theme.panel : ui.theme.muted, 0.5f);
}

} // namespace lockstep::demos
