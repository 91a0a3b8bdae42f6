// The confusion matrix as a heat map: a row per true class, a column per answer.
#include <algorithm>

#include <fmt/format.h>

#include "demos/exhibits/race/race_answers.h"
#include "demos/exhibits/race/race_draw.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t mostClasses = 64; // more cells than that are no picture

struct Grid {
    ImVec2 at;
    float wide = 0; // of a cell
    float high = 0;
};

void explainCell(Ui& ui, const std::vector<std::string>& names, std::size_t row, std::size_t column,
                 std::uint64_t count, std::uint64_t rowSum) {
    Detail detail;
    detail.title =
        row == column ? names[row] + ", answered correctly" : names[row] + " taken for " + names[column];
    detail.values = {{"it is", names[row]},
                     {"the network says", names[column]},
                     {"examples", grouped(count)},
                     {"of this class", percent(static_cast<double>(count) / static_cast<double>(rowSum))}};
    ImGui::SetTooltip("%s\n%s of %s", detail.title.c_str(), grouped(count).c_str(), grouped(rowSum).c_str());
    ui.detail(std::move(detail));
}

void drawRow(Ui& ui, std::span<const std::uint64_t> counts, std::size_t row,
             const std::vector<std::string>& names, const Grid& grid) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    std::uint64_t sum = 0;
    for (const std::uint64_t count : counts) sum += count;
    const float gap = ui.line();
    const float y = grid.at.y + grid.high * static_cast<float>(row);
    for (std::size_t column = 0; column < counts.size(); ++column) {
        const float x = grid.at.x + grid.wide * static_cast<float>(column);
        const float share = sum > 0 ? static_cast<float>(counts[column]) / static_cast<float>(sum) : 0;
        const ImVec2 low{x + grid.wide - gap, y + grid.high - gap};
        draw.AddRectFilled({x, y}, low, viridis(share));
        if (column == row) // what is right
            draw.AddRect({x, y}, low, ui.theme.text, 0, 0, 2 * ui.line());
        const std::string text = counts[column] == 0 ? "·" : grouped(counts[column]);
        const ImVec2 size = ImGui::CalcTextSize(text.c_str());
        if (size.x + ui.px(2) < grid.wide && size.y <= grid.high)
            draw.AddText({x + (grid.wide - size.x) / 2, y + (grid.high - size.y) / 2},
                         share > 0.6f ? IM_COL32(16, 20, 24, 255) : IM_COL32(240, 243, 247, 255),
                         text.c_str());
        if (ImGui::IsMouseHoveringRect({x, y}, low) && sum > 0)
            explainCell(ui, names, row, column, counts[column], sum);
    }
}

float longest(const std::vector<std::string>& names) {
    float width = 0;
    for (const std::string& name : names) width = std::max(width, ImGui::CalcTextSize(name.c_str()).x);
    return width;
}

} // namespace

void drawConfusionMatrix(Ui& ui, const Evaluation& evaluation, const std::vector<std::string>& classNames,
                         ImVec2 size) {
    const std::size_t classes = classNames.size();
    if (classes > mostClasses || classes * classes != evaluation.confusion.size()) {
        ui.muted(fmt::format("{} classes are too many for a picture; the saved JSON has the whole matrix.",
                             classes));
        return;
    }
    const float line = ImGui::GetTextLineHeight();
    constexpr const char* corner = "is \\ says";
    const float least = ImGui::CalcTextSize(corner).x;
    const float names = std::max(least, std::min(longest(classNames), ui.px(110))) + ui.px(20);
    const float n = static_cast<float>(classes);
    Grid grid;
    grid.wide = std::min((size.x - names) / n, ui.px(72));
    grid.high = std::clamp((size.y - line - ui.px(8)) / n, ui.px(14), ui.px(34));
    const ImVec2 start = ImGui::GetCursorScreenPos();
    grid.at = {start.x + names, start.y + line + ui.px(4)};
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddText(start, ui.theme.muted, corner);
    for (std::size_t i = 0; i < classes; ++i) {
        const float x = grid.at.x + grid.wide * static_cast<float>(i);
        const float y = grid.at.y + grid.high * static_cast<float>(i);
        const std::string head = fitted(classNames[i], grid.wide - ui.px(4));
        const float centre = x + (grid.wide - ImGui::CalcTextSize(head.c_str()).x) / 2;
        draw.AddText({centre, start.y}, ui.theme.muted, head.c_str());
        if (line <= grid.high + ui.px(2))
            draw.AddText({start.x, y + (grid.high - line) / 2}, ui.theme.muted,
                         fitted(classNames[i], names - ui.px(20)).c_str());
        drawRow(ui, std::span(evaluation.confusion).subspan(i * classes, classes), i, classNames, grid);
    }
    ImGui::Dummy({names + grid.wide * n, line + ui.px(4) + grid.high * n});
    ui.noteControl("confusion matrix");
}

} // namespace lockstep::demos
