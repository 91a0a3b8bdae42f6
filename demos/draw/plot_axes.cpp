// Grid, ticks and titles of a plot.
#include <algorithm>
#include <cmath>

#include "demos/draw/plot_frame.h"

namespace lockstep::demos {

namespace {

std::size_t labelled(std::span<const PlotTick> ticks) {
    return static_cast<std::size_t>(
        std::ranges::count_if(ticks, [](const PlotTick& tick) { return !tick.label.empty(); }));
}

// As many as stand beside each other: with more decimals they are wider.
std::vector<PlotTick> horizontalTicks(const PlotFrame& frame, bool whole) {
    const Ui& ui = frame.ui;
    const float width = frame.width();
    std::vector<PlotTick> ticks;
    for (auto most = static_cast<std::size_t>(std::max(width / ui.px(52), 1.0f)); most > 0; --most) {
        ticks = plotTicks(frame.x, frame.logX, most, whole);
        if ((widestLabel(ticks) + ui.px(16)) * static_cast<float>(labelled(ticks)) <= width) break;
    }
    return ticks;
}

void drawTicksBelow(const PlotFrame& frame, const PlotAxis& axis, const Ui::Place& whole) {
    const std::string title = axisTitle(axis);
    const Ui& ui = frame.ui;
    const float titleWidth = ImGui::CalcTextSize(title.c_str()).x;
    const float titleLeft = whole.max.x - titleWidth - ui.px(2);
    const float top = frame.high.y + ui.px(6);
    float free = whole.min.x; // from here on nothing has been written
    for (const PlotTick& tick : horizontalTicks(frame, axis.whole)) {
        const float x = std::round(frame.at(tick.position, frame.y.low).x);
        if (x < frame.low.x - 1 || x > frame.high.x + 1) continue;
        const bool plain = tick.label.empty();
        frame.draw.AddLine({x, frame.low.y}, {x, frame.high.y}, faded(ui.theme.grid, plain ? 0.5f : 1.0f),
                           ui.line());
        if (plain) continue;
        const float width = ImGui::CalcTextSize(tick.label.c_str()).x;
        const float left = std::clamp(x - width / 2, whole.min.x, std::max(whole.max.x - width, whole.min.x));
        if (left < free || left + width > titleLeft - ui.px(10)) continue;
        frame.draw.AddText({left, top}, ui.theme.muted, tick.label.c_str());
        free = left + width + ui.px(8);
    }
    if (titleLeft >= free) frame.draw.AddText({titleLeft, top}, ui.theme.muted, title.c_str());
}

void drawTicksLeft(const PlotFrame& frame) {
    const Ui& ui = frame.ui;
    const float letters = ImGui::GetFontSize();
    float free = frame.high.y + letters; // above this nothing has been written
    for (const PlotTick& tick : verticalTicks(ui, frame.y, frame.logY, frame.height())) {
        const float y = std::round(frame.at(frame.x.low, tick.position).y);
        if (y < frame.low.y - 1 || y > frame.high.y + 1) continue;
        const bool plain = tick.label.empty();
        frame.draw.AddLine({frame.low.x, y}, {frame.high.x, y}, faded(ui.theme.grid, plain ? 0.5f : 1.0f),
                           ui.line());
        if (plain || y + letters / 2 > free) continue;
        const float width = ImGui::CalcTextSize(tick.label.c_str()).x;
        frame.draw.AddText({frame.low.x - ui.px(8) - width, y - letters / 2}, ui.theme.muted,
                           tick.label.c_str());
        free = y - letters / 2;
    }
}

} // namespace

std::vector<PlotTick> verticalTicks(const Ui& ui, PlotRange range, bool log, float height) {
    auto most = static_cast<std::size_t>(std::max(height / ui.px(42), 1.0f));
    std::vector<PlotTick> ticks = plotTicks(range, log, most);
    // One number is no scale.
    for (const std::size_t enough = most + 4; labelled(ticks) < 2 && most < enough;)
        ticks = plotTicks(range, log, ++most);
    return ticks;
}

float widestLabel(std::span<const PlotTick> ticks) {
    float widest = 0;
    for (const PlotTick& tick : ticks) widest = std::max(widest, ImGui::CalcTextSize(tick.label.c_str()).x);
    return widest;
}

void drawPlotAxes(const PlotFrame& frame, const PlotOptions& options, const Ui::Place& whole) {
    drawTicksBelow(frame, options.x, whole);
    drawTicksLeft(frame);
    const ImU32 axis = frame.ui.theme.border;
    frame.draw.AddLine({frame.low.x, frame.high.y}, frame.high, axis, frame.ui.line());
    frame.draw.AddLine(frame.low, {frame.low.x, frame.high.y}, axis, frame.ui.line());
}

std::string plotValue(double value, const PlotAxis& axis, bool decimals) {
    return plotNumber(value, decimals) + (axis.unit.empty() ? "" : " " + axis.unit);
}

std::string axisTitle(const PlotAxis& axis) {
    return axis.title + (axis.unit.empty() ? "" : " (" + axis.unit + ")");
}

} // namespace lockstep::demos
