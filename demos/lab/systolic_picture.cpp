#include "demos/lab/systolic_picture.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

namespace lockstep::demos {

void drawSystolicArray(Ui& ui, ImVec2 size, double seconds) {
    constexpr int cells = 6;
    constexpr int queue = 3; // operands shown on their way in
    constexpr int beats = 3 * cells - 2;
    constexpr double beatSeconds = 0.9;
    const double turns = std::fmod(seconds / beatSeconds, beats + 4.0) - 1;
    const int beat = static_cast<int>(std::floor(turns)); // -1: about to begin
    const double moved = std::clamp(2 * (turns - beat) - 1, 0.0, 1.0);
    const double at = std::min(beat + moved * moved * (3 - 2 * moved), beats + 1.0);
    const auto a = [](int row, int k) { return (2 * row + 3 * k) % 4; };
    const auto b = [](int k, int column) { return (k + 2 * column + k * column) % 4; };

    const SmallLetters small(ui);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const float caption = ImGui::GetTextLineHeight() + ui.px(4);
    const float side = std::min(size.x, size.y - caption) / (cells + queue);
    const ImVec2 origin{corner.x + queue * side, corner.y + queue * side};
    const auto text = [&](ImVec2 centre, ImU32 colour, const std::string& letters) {
        const ImVec2 extent = ImGui::CalcTextSize(letters.c_str());
        list.AddText({centre.x - extent.x / 2, centre.y - extent.y / 2}, colour, letters.c_str());
    };
    int working = 0;
    for (int row = 0; row < cells; ++row)
        for (int column = 0; column < cells; ++column) {
            int total = 0;
            const int done = std::clamp(beat - row - column + 1, 0, cells);
            for (int k = 0; k < done; ++k) total += a(row, k) * b(k, column);
            const bool works = beat >= row + column && beat < row + column + cells;
            working += works ? 1 : 0;
            const ImVec2 low{origin.x + static_cast<float>(column) * side,
                             origin.y + static_cast<float>(row) * side};
            const ImVec2 high{low.x + side - ui.px(2), low.y + side - ui.px(2)};
            list.AddRectFilled(
                low, high, works ? mixed(ui.theme.raised, ui.theme.accent, 0.2f) : ui.theme.raised, ui.px(3));
            if (works) list.AddRect(low, high, ui.theme.accent, ui.px(3), 0, ui.line());
            if (done > 0)
                text({(low.x + high.x) / 2, (low.y + high.y) / 2 + side * 0.14f}, ui.theme.text,
                     fmt::format("{}", total));
        }
    // Operands lie over the edge that they came in by: those of A on the left, those of B at the top.
    list.PushClipRect(corner, {origin.x + cells * side, origin.y + cells * side}, true);
    const float radius = side * 0.12f;
    for (int line = 0; line < cells; ++line)
        for (int k = 0; k < cells; ++k) {
            const auto along = static_cast<float>(at - line - k);
            if (along < -queue - 0.5f || along > cells - 0.5f) continue;
            const float across = (static_cast<float>(line) + 0.5f) * side;
            const float way = (along + 0.5f) * side;
            const ImVec2 left{origin.x + way - side * 0.36f, origin.y + across - side * 0.35f};
            const ImVec2 top{origin.x + across + side * 0.28f, origin.y + way - side * 0.35f};
            if (along < 0) { // outside there is room for the number
                text({origin.x + way, origin.y + across}, seriesColour(ui.theme, 2),
                     fmt::format("{}", a(line, k)));
                text({origin.x + across, origin.y + way}, seriesColour(ui.theme, 3),
                     fmt::format("{}", b(k, line)));
                continue;
            }
            list.AddCircleFilled(left, radius, seriesColour(ui.theme, 2));
            list.AddRectFilled({top.x - radius, top.y - radius}, {top.x + radius, top.y + radius},
                               seriesColour(ui.theme, 3));
        }
    list.PopClipRect();
    const std::string words =
        beat < 0       ? "A flows right, B flows down"
        : working == 0 ? translatedFormat("done after {} beats", beats)
                       : translatedFormat("beat {}: {} of {} work", beat + 1, working, cells * cells);
    drawText(list, {corner.x, origin.y + cells * side + ui.px(2)}, ui.theme.muted, words);
}

} // namespace lockstep::demos
