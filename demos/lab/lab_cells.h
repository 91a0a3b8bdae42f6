// Cells and letters, of which several experiments make their pictures.
#pragma once

#include <algorithm>
#include <string_view>

#include <imgui.h>

#include "demos/draw/ui.h"

namespace lockstep::demos {

/// Text on a line; `share` of its width lies on the left of `at` (0: it begins there, 0.5: it is centred).
/// Translated, as all text.
inline void labText(ImDrawList& draw, ImVec2 at, std::string_view text, ImU32 colour, float share = 0) {
    drawText(draw, {at.x - share * textWidth(text), at.y}, colour, text);
}

/// Filled where something happens; an outline where it does not.
inline void labCell(const Ui& ui, ImDrawList& draw, ImVec2 min, ImVec2 max, ImU32 colour, bool filled) {
    if (filled)
        draw.AddRectFilled(min, max, colour, ui.px(2));
    else
        draw.AddRect(min, max, faded(colour, 0.5f), ui.px(2), 0, ui.line());
}

/// The same with a text, as large as it may be for `widest` to have room in the cell, apart from the texts
/// beside it; none if that is too small to be read.
inline void labCell(const Ui& ui, ImDrawList& draw, ImVec2 min, ImVec2 max, ImU32 colour, bool filled,
                    std::string_view text, std::string_view widest = {}) {
    labCell(ui, draw, min, max, colour, filled);
    const float letters = ImGui::GetFontSize();
    const float width = textWidth(widest.empty() ? text : widest) + ui.px(4);
    const float scale = std::min({1.0f, (max.x - min.x) / width, (max.y - min.y + ui.px(2)) / letters});
    if (text.empty() || scale < 0.75f) return;
    const ImVec2 at{(min.x + max.x - scale * textWidth(text)) / 2, (min.y + max.y - scale * letters) / 2};
    text = translated(text);
    draw.AddText(ImGui::GetFont(), scale * letters, at, filled ? ui.theme.panel : ui.theme.muted, text.data(),
                 text.data() + text.size());
}

/// A picture with curves: below it, or beside it where the room is low.
struct LabPlace {
    ImVec2 at;    ///< of the picture
    ImVec2 size;  ///< likewise
    bool low;     ///< the curves are beside it
    float curves; ///< their height
};

/// Leaves the cursor where the curves go. share: of the height, for the picture
inline LabPlace labPlace(const Ui& ui, float share) {
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (room.y < ui.px(260)) {
        const float picture = 0.4f * (room.x - ui.px(24)); // the curves need room for their names
        ImGui::SetCursorPosX(ImGui::GetCursorPosX() + picture + ui.px(24));
        return {at, {picture, room.y}, true, room.y};
    }
    ImGui::Dummy({room.x, share * room.y});
    return {at, {room.x, share * room.y}, false, 0};
}

} // namespace lockstep::demos
