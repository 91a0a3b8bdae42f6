#include "demos/exhibits/race/race_draw.h"

#include <algorithm>

namespace lockstep::demos {

ImU32 laneColour(const Ui& ui, std::span<const LaneSpec> lanes, std::size_t index) {
    constexpr float shade = 0.4f;
    std::size_t before = 0;
    for (std::size_t i = 0; i < index; ++i) before += lanes[i].gpu == lanes[index].gpu ? 1 : 0;
    return mixed(ui.colour(lanes[index]), ui.theme.text, std::min(shade * static_cast<float>(before), 0.85f));
}

std::string fitted(std::string_view text, float width) {
    const auto widthOf = [](std::string_view part) {
        return ImGui::CalcTextSize(part.data(), part.data() + part.size()).x;
    };
    if (widthOf(text) <= width) return std::string(text);
    const std::string_view dots = "…";
    const float room = width - widthOf(dots);
    while (!text.empty() && widthOf(text) > room) {
        text.remove_suffix(1);
        while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80)
            text.remove_suffix(1);
    }
    // A lead byte whose followers are gone is none.
    if (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80) != 0) text.remove_suffix(1);
    return std::string(text) + std::string(dots);
}

Panel drawPanel(Ui& ui, float height) {
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const ImVec2 end{start.x + width, start.y + height};
    ImGui::GetWindowDrawList()->AddRectFilled(start, end, ui.theme.panel, ui.px(8));
    ImGui::Dummy({width, height});
    return {start, end};
}

} // namespace lockstep::demos
