// Marks and values of both hyperparameters on the edges of a mosaic, and the colours of losses.
#include <algorithm>
#include <cmath>

#include "demos/exhibits/mosaic/mosaic_view.h"
#include "demos/exhibits/mosaic/mosaic_words.h"
#include "demos/report/text.h"

namespace lockstep::demos {

namespace {

constexpr float markUnits = 4; // of a mark's line, and between it and its value

struct Marks {
    const Ui& ui;
    ImDrawList& draw;
    ImU32 line;
    ImU32 text;
};

void drawMarksBelow(const Marks& marks, const PopulationSpec& spec, ImVec2 low, ImVec2 high,
                    const AxisStyle& style) {
    const float length = marks.ui.px(markUnits);
    const float top = high.y + 2 * length;
    const float tile = (high.x - low.x) / static_cast<float>(spec.columns);
    const std::vector<AxisTick> ticks = spec.x.ticks(spec.columns);
    const auto widthOf = [](const AxisTick& tick) { return ImGui::CalcTextSize(tick.label.c_str()).x; };
    const auto middle = [&](const AxisTick& tick) {
        return std::round(low.x + static_cast<float>(tick.place) * tile);
    };
    const std::string name = style.names ? hyperparameterLabel(spec.x.parameter) : "";
    const float nameWidth = ImGui::CalcTextSize(name.c_str()).x;
    // Behind the last value, or, where there is no room for it, in its place.
    const float behind =
        ticks.empty() ? low.x : middle(ticks.back()) + widthOf(ticks.back()) / 2 + 2 * length;
    const float nameLeft = std::min(std::max(behind, high.x - nameWidth), style.right - nameWidth);
    float free = low.x - marks.ui.px(40); // from here on nothing has been written
    for (const AxisTick& tick : ticks) {
        const float x = middle(tick);
        const float half = widthOf(tick) / 2;
        marks.draw.AddLine({x, high.y}, {x, high.y + length}, marks.line, marks.ui.line());
        if (x - half < free || (style.names && x + half + length > nameLeft)) continue;
        marks.draw.AddText({x - half, top}, marks.text, tick.label.c_str());
        free = x + half + 2 * length;
    }
    if (nameLeft >= free - length) marks.draw.AddText({nameLeft, top}, marks.text, name.c_str());
}

void drawMarksLeft(const Marks& marks, const PopulationSpec& spec, ImVec2 low, ImVec2 high) {
    const float length = marks.ui.px(markUnits);
    const float letters = ImGui::GetFontSize();
    const float tile = (high.y - low.y) / static_cast<float>(spec.rows);
    float free = high.y + letters / 2; // above this nothing has been written
    for (const AxisTick& tick : spec.y.ticks(spec.rows)) {
        const float y = std::round(high.y - static_cast<float>(tick.place) * tile);
        marks.draw.AddLine({low.x - length, y}, {low.x, y}, marks.line, marks.ui.line());
        if (y + letters / 2 > free) continue;
        const float width = ImGui::CalcTextSize(tick.label.c_str()).x;
        marks.draw.AddText({low.x - 2 * length - width, y - letters / 2}, marks.text, tick.label.c_str());
        free = y - letters / 2;
    }
}

} // namespace

AxisRoom axisRoom(const MosaicPanel& panel) {
    const PopulationSpec& spec = panel.model.spec();
    const float gap = 2 * panel.ui.px(markUnits);
    const float line = ImGui::GetTextLineHeight();
    float widest = 0;
    for (const AxisTick& tick : spec.y.ticks(spec.rows))
        widest = std::max(widest, ImGui::CalcTextSize(tick.label.c_str()).x);
    return {widest + gap, line + gap, line + gap};
}

void drawMosaicAxes(const MosaicPanel& panel, ImVec2 low, ImVec2 high, const AxisStyle& style) {
    const float strength = style.strength;
    const Ui& ui = panel.ui;
    const PopulationSpec& spec = panel.model.spec();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const Marks marks{ui, draw, faded(ui.theme.muted, strength), faded(ui.theme.muted, strength)};
    if (strength > 0) {
        drawMarksBelow(marks, spec, low, high, style);
        drawMarksLeft(marks, spec, low, high);
        const std::string name = style.names ? hyperparameterLabel(spec.y.parameter) : "";
        draw.AddText({low.x - axisRoom(panel).left, low.y - axisRoom(panel).above}, marks.text, name.c_str());
    }
    if (strength < 1)
        draw.AddText({low.x, high.y + 2 * ui.px(markUnits)}, faded(ui.theme.muted, 1 - strength),
                     "best first, row by row");
}

void drawLossLegend(const MosaicPanel& panel, ImVec2 right, float room) {
    const Ui& ui = panel.ui;
    const LossScale scale = panel.model.scale();
    if (scale.empty()) return;
    constexpr int steps = 24;
    const std::string worst = "loss " + threeDigits(scale.worst);
    const std::string best = threeDigits(scale.best);
    const float gap = ui.px(5);
    const float bar = ui.px(56);
    const float bestWidth = ImGui::CalcTextSize(best.c_str()).x;
    const float width = ImGui::CalcTextSize(worst.c_str()).x + bestWidth + bar + 2 * gap;
    if (width > room) return;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float height = ImGui::GetFontSize();
    draw.AddText({right.x - width, right.y}, ui.theme.muted, worst.c_str());
    draw.AddText({right.x - bestWidth, right.y}, ui.theme.muted, best.c_str());
    const float from = right.x - bestWidth - gap - bar;
    for (int i = 0; i < steps; ++i) {
        const float share = static_cast<float>(i) / steps;
        draw.AddRectFilled({from + share * bar, right.y + 0.25f * height},
                           {from + (share + 1.0f / steps) * bar, right.y + 0.75f * height}, viridis(share));
    }
}

} // namespace lockstep::demos
