#include "demos/kit/source_pane.h"

#include <algorithm>

#include <fmt/format.h>

namespace lockstep::demos {

void beginSourcePane(Ui& ui, const char* id, ImVec2 size) {
    ImGui::PushStyleColor(ImGuiCol_ChildBg, ui.theme.background);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(8), ui.px(6)});
    ImGui::BeginChild(id, size, true,
                      ImGuiWindowFlags_HorizontalScrollbar | ImGuiWindowFlags_AlwaysUseWindowPadding);
    ImGui::PopStyleVar();
    ImGui::PushFont(ui.fonts.mono);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
}

void endSourcePane() {
    ImGui::PopStyleVar();
    ImGui::PopFont();
    ImGui::EndChild();
    ImGui::PopStyleColor();
}

ImVec2 drawSourceLine(Ui& ui, std::size_t number, std::string_view line, float gutter, bool quiet) {
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
