// Marks and values of both hyperparameters on the edges of a mosaic, and the colours of losses.
#include <algorithm>
#include <cmath>

#include "demos/exhibits/mosaic/mosaic_view.h"
#include "demos/exhibits/mosaic/mosaic_words.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr float markUnits = 4; // of a mark's line, and between it and its value

struct Marks {
    const Ui& ui;
    ImDrawList& draw;
    ImU32 colour;
};

float widthOf(const AxisTick& tick) { return ImGui::CalcTextSize(tick.label.c_str()).x; }

void drawMarksBelow(const Marks& marks, const PopulationSpec& spec, ImVec2 low, ImVec2 high) {
    const float length = marks.ui.px(markUnits);
    const float tile = (high.x - low.x) / static_cast<float>(spec.columns);
    float free = low.x - marks.ui.px(40); // from here on nothing has been written
    for (const AxisTick& tick : spec.x.ticks(spec.columns)) {
        const float x = std::round(low.x + static_cast<float>(tick.place) * tile);
        const float half = widthOf(tick) / 2;
        marks.draw.AddLine({x, high.y}, {x, high.y + length}, marks.colour, marks.ui.line());
        if (x - half < free) continue;
        marks.draw.AddText({x - half, high.y + 2 * length}, marks.colour, tick.label.c_str());
        free = x + half + 2 * length;
    }
}

void drawMarksLeft(const Marks& marks, const PopulationSpec& spec, ImVec2 low, ImVec2 high) {
    const float length = marks.ui.px(markUnits);
    const float letters = ImGui::GetFontSize();
    const float tile = (high.y - low.y) / static_cast<float>(spec.rows);
    float free = high.y + letters / 2; // above this nothing has been written
    for (const AxisTick& tick : spec.y.ticks(spec.rows)) {
        const float y = std::round(high.y - static_cast<float>(tick.place) * tile);
        marks.draw.AddLine({low.x - length, y}, {low.x, y}, marks.colour, marks.ui.line());
        if (y + letters / 2 > free) continue;
        const float width = ImGui::CalcTextSize(tick.label.c_str()).x;
        marks.draw.AddText({low.x - 2 * length - width, y - letters / 2}, marks.colour, tick.label.c_str());
        free = y - letters / 2;
    }
}

/// The colours from the worst loss to the best, in the middle of a line of text.
void drawLossBar(ImVec2 corner, float width) {
    constexpr int steps = 24;
    const float height = ImGui::GetFontSize();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    for (int i = 0; i < steps; ++i) {
        const float share = static_cast<float>(i) / steps;
        draw.AddRectFilled({corner.x + share * width, corner.y + 0.25f * height},
                           {corner.x + (share + 1.0f / steps) * width, corner.y + 0.75f * height},
                           viridis(share));
    }
}

AxisRoom axisRoom(const MosaicPanel& panel, AxisNames names) {
    const PopulationSpec& spec = panel.model.spec();
    const float gap = 2 * panel.ui.px(markUnits);
    const float line = ImGui::GetTextLineHeight();
    float widest = 0;
    for (const AxisTick& tick : spec.y.ticks(spec.rows)) widest = std::max(widest, widthOf(tick));
    return {widest + gap, names == AxisNames::none ? 0 : line + gap,
            (names == AxisNames::below ? 2 * line : line) + gap};
}

} // namespace

MosaicPlace placeMosaic(const MosaicPanel& panel, ImVec2 start, ImVec2 room, bool names) {
    const PopulationSpec& spec = panel.model.spec();
    const auto columns = static_cast<float>(spec.columns);
    const auto rows = static_cast<float>(spec.rows);
    const auto place = [&](AxisNames where) {
        const AxisRoom margin = axisRoom(panel, where);
        const float tile = std::max(
            0.5f, std::min((room.x - margin.left) / columns, (room.y - margin.above - margin.below) / rows));
        const float spare = std::max(0.0f, room.x - margin.left - tile * columns) / 2;
        const ImVec2 low{start.x + margin.left + spare, start.y + margin.above};
        return MosaicPlace{
            low, {low.x + tile * columns, low.y + tile * rows}, tile, start.x + room.x, where, margin};
    };
    if (!names) return place(AxisNames::none);
    const MosaicPlace first = place(AxisNames::beside);
    const std::vector<AxisTick> ticks = spec.x.ticks(spec.columns);
    if (ticks.empty()) return first;
    const float end = first.low.x + static_cast<float>(ticks.back().place) * first.tile +
                      widthOf(ticks.back()) / 2 + 2 * panel.ui.px(markUnits);
    const float name = ImGui::CalcTextSize(hyperparameterLabel(spec.x.parameter).c_str()).x;
    return end + name <= first.right ? first : place(AxisNames::below);
}

void drawMosaicAxes(const MosaicPanel& panel, const MosaicPlace& place, float strength) {
    const Ui& ui = panel.ui;
    const PopulationSpec& spec = panel.model.spec();
    const auto& [low, high, tile, right, names, room] = place;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImU32 colour = faded(ui.theme.muted, strength);
    if (strength > 0) {
        const Marks marks{ui, draw, colour};
        drawMarksBelow(marks, spec, low, high);
        drawMarksLeft(marks, spec, low, high);
    }
    if (strength > 0 && names != AxisNames::none) {
        const std::string x = hyperparameterLabel(spec.x.parameter);
        const std::string y = hyperparameterLabel(spec.y.parameter);
        draw.AddText({low.x - room.left, low.y - room.above}, colour, y.c_str());
        draw.AddText(
            {right - ImGui::CalcTextSize(x.c_str()).x, high.y + room.below - ImGui::GetTextLineHeight()},
            colour, x.c_str());
    }
    if (strength < 1)
        draw.AddText({low.x, high.y + 2 * ui.px(markUnits)}, faded(ui.theme.muted, 1 - strength),
                     "best first, row by row");
}

bool drawLossLegend(const MosaicPanel& panel, ImVec2 right, float room) {
    const Ui& ui = panel.ui;
    const LossScale& scale = panel.scale;
    if (scale.empty()) return true;
    const std::string worst = "loss " + threeDigits(scale.worst);
    const std::string best = threeDigits(scale.best);
    const float gap = ui.px(5);
    const float bar = ui.px(56);
    const float bestWidth = ImGui::CalcTextSize(best.c_str()).x;
    const float width = ImGui::CalcTextSize(worst.c_str()).x + bestWidth + bar + 2 * gap;
    if (width > room) return false;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddText({right.x - width, right.y}, ui.theme.muted, worst.c_str());
    draw.AddText({right.x - bestWidth, right.y}, ui.theme.muted, best.c_str());
    drawLossBar({right.x - bestWidth - gap - bar, right.y}, bar);
    return true;
}

void drawLossColumn(const MosaicPanel& panel, ImVec2 corner, float width) {
    const LossScale& scale = panel.scale;
    if (scale.empty()) return;
    const float line = ImGui::GetTextLineHeight();
    const ImU32 colour = panel.ui.theme.muted;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddText(corner, colour, "loss");
    draw.AddText({corner.x, corner.y + line}, colour, threeDigits(scale.worst).c_str());
    drawLossBar({corner.x, corner.y + 2 * line}, width);
    const std::string best = threeDigits(scale.best); // at its end of the bar
    draw.AddText({corner.x + width - ImGui::CalcTextSize(best.c_str()).x, corner.y + 3 * line}, colour,
                 best.c_str());
}

} // namespace lockstep::demos
