// Source texts as exhibits show them: a scrolled pane of lines in letters of one width, with their numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "demos/draw/ui.h"
#include "demos/kit/source_text.h"

namespace lockstep::demos {

/// Everything until endSourcePane() is drawn in a framed pane that scrolls, in letters of one width, line
/// below line. width and height 0: all there is.
inline void beginSourcePane(Ui& ui, const char* id, ImVec2 size) {
    ImGui::PushStyleColor(ImGuiCol_ChildBg, ui.theme.background);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(8), ui.px(6)});
    ImGui::BeginChild(id, size, true,
                      ImGuiWindowFlags_HorizontalScrollbar | ImGuiWindowFlags_AlwaysUseWindowPadding);
    ImGui::PopStyleVar();
    ImGui::PushFont(ui.fonts.mono);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
}

inline void endSourcePane() {
    ImGui::PopStyleVar();
    ImGui::PopFont();
    ImGui::EndChild();
    ImGui::PopStyleColor();
}

inline ImU32 colourOf(const Theme& theme, SourceWord word) {
    switch (word) {
    case SourceWord::keyword:
    case SourceWord::directive: return legible(theme, seriesColour(theme, 3));
    case SourceWord::type: return legible(theme, theme.gpu);
    case SourceWord::number: return legible(theme, theme.cpu);
    case SourceWord::comment: return theme.muted;
    case SourceWord::other: break;
    }
    return theme.text;
}

/// Draws one line of a pane in the colours of its words, and returns where it begins. Its number, counted
/// from 1, stays in the gutter on the left, `gutter` pixels wide, while the text scrolls to the side. `quiet`
/// texts are muted.
inline ImVec2 drawSourceLine(Ui& ui, std::size_t number, std::string_view line, float gutter,
                             bool quiet = false) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const char* end = line.data() + line.size();
    const float height = ImGui::GetTextLineHeight();
    const float left = at.x + ImGui::GetScrollX();
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowWidth();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddText({left, at.y}, ui.theme.muted, fmt::format("{:3}", number).c_str());
    draw.PushClipRect({left + gutter, at.y}, {right, at.y + height}, true);
    float x = at.x + gutter;
    if (ImGui::IsRectVisible(at, {right, at.y + height}))
        for (const SourcePiece& piece : sourcePieces(line)) {
            const char* pieceEnd = piece.text.data() + piece.text.size();
            draw.AddText({x, at.y}, quiet ? ui.theme.muted : colourOf(ui.theme, piece.word),
                         piece.text.data(), pieceEnd);
            x += lettersWidth(piece.text);
        }
    draw.PopClipRect();
    ImGui::Dummy({gutter + ImGui::CalcTextSize(line.data(), end).x, height});
    return {left, at.y};
}

} // namespace lockstep::demos
