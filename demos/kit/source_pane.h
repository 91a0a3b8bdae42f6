// Source texts as exhibits show them: a scrolled pane of lines in letters of one width, with their numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "demos/draw/ui.h"

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

/// Draws one line of a pane, comments muted, and returns where it begins. Its number, counted from 1, stays
/// in the gutter on the left, `gutter` pixels wide, while the text scrolls to the side. `quiet` texts are
/// muted.
inline ImVec2 drawSourceLine(Ui& ui, std::size_t number, std::string_view line, float gutter,
                             bool quiet = false) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const char* end = line.data() + line.size();
    const float height = ImGui::GetTextLineHeight();
    const float left = at.x + ImGui::GetScrollX();
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowWidth();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddText({left, at.y}, ui.theme.muted, fmt::format("{:3}", number).c_str());
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    const bool muted = quiet || line.substr(indent).starts_with("//");
    draw.PushClipRect({left + gutter, at.y}, {right, at.y + height}, true);
    draw.AddText({at.x + gutter, at.y}, muted ? ui.theme.muted : ui.theme.text, line.data(), end);
    draw.PopClipRect();
    ImGui::Dummy({gutter + ImGui::CalcTextSize(line.data(), end).x, height});
    return {left, at.y};
}

} // namespace lockstep::demos
