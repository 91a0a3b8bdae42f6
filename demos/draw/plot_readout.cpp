#include "demos/draw/plot_readout.h"

#include <algorithm>
#include <cmath>

#include "demos/draw/plot_curves.h"

namespace lockstep::demos {

namespace {

// "0.4123", with its unit.
std::string plotValue(double value, const PlotAxis& axis, bool decimals = false) {
    return plotNumber(value, decimals) + (axis.unit.empty() ? "" : " " + axis.unit);
}

struct Reading {
    const PlotLine* line = nullptr;
    ImVec2 at;
    double value = 0;
    std::string text;
};

// The position of the nearest sample of any line, so that numbers are measured ones.
std::optional<double> snapped(const PlotFrame& frame, double at) {
    std::optional<double> nearest;
    for (const PlotCurve& curve : frame.curves) {
        const auto index = frame.nearest(curve, at);
        if (!index) continue;
        const double x = axisPosition(curve.line->x[*index], frame.logX);
        if (!nearest || std::abs(x - at) < std::abs(*nearest - at)) nearest = x;
    }
    return nearest;
}

// A line has a value where one of its samples is, and between two that are joined.
bool reaches(const PlotFrame& frame, const PlotCurve& curve, double x, double sample) {
    const double slack = frame.x.span() / static_cast<double>(frame.width()) * 3;
    if (std::abs(sample - x) <= slack) return true;
    const auto xs = curve.line->x;
    const auto right = static_cast<std::size_t>(
        std::distance(xs.begin(), std::ranges::lower_bound(xs, axisValue(x, frame.logX))));
    if (right == 0 || right >= xs.size()) return false;
    const auto drawn = [&](std::size_t i) { return drawable(xs[i], curve.y()[i], frame.logX, frame.logY); };
    return drawn(right - 1) && drawn(right);
}

std::vector<Reading> readingsAt(const PlotFrame& frame, double x, const PlotAxis& axis) {
    std::vector<Reading> readings;
    for (const PlotCurve& curve : frame.curves) {
        if (curve.line->name.empty()) continue;
        const auto index = frame.nearest(curve, x);
        if (!index) continue;
        const double sample = axisPosition(curve.line->x[*index], frame.logX);
        if (!reaches(frame, curve, x, sample)) continue;
        readings.push_back({curve.line, frame.at(curve, *index), curve.y()[*index], {}});
    }
    const bool decimals = std::ranges::any_of(
        readings, [](const Reading& reading) { return reading.value != std::floor(reading.value); });
    for (Reading& reading : readings) reading.text = plotValue(reading.value, axis, decimals);
    return readings;
}

void drawReadoutBox(const PlotFrame& frame, const std::string& title, std::span<const Reading> readings,
                    float hairline) {
    const Ui& ui = frame.ui;
    const SmallLetters small(ui);
    const float padding = ui.px(10);
    const float rowHeight = ImGui::GetFontSize() + ui.px(4);
    float nameWidth = 0;
    float valueWidth = 0;
    for (const Reading& reading : readings) {
        nameWidth = std::max(nameWidth, textWidth(reading.line->name));
        valueWidth = std::max(valueWidth, textWidth(reading.text));
    }
    const ImVec2 size{std::max(ui.px(30) + nameWidth + ui.px(14) + valueWidth, textWidth(title)) +
                          2 * padding,
                      rowHeight * static_cast<float>(readings.size() + 1) + 2 * padding - ui.px(4)};
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    float left = hairline + ui.px(12);
    if (left + size.x > frame.high.x) left = hairline - ui.px(12) - size.x;
    left = std::clamp(left, 0.0f, std::max(display.x - size.x, 0.0f));
    const float top = std::clamp(frame.low.y + ui.px(8), 0.0f, std::max(display.y - size.y, 0.0f));
    const ImVec2 end{left + size.x, top + size.y};
    ImDrawList& draw = *ImGui::GetForegroundDrawList();
    draw.AddRectFilled({left, top}, end, ui.theme.panel, ui.px(6));
    draw.AddRect({left, top}, end, ui.theme.border, ui.px(6), 0, ui.line());
    ImVec2 at{left + padding, top + padding};
    drawText(draw, at, ui.theme.muted, title);
    for (const Reading& reading : readings) {
        const PlotLine& line = *reading.line;
        at.y += rowHeight;
        drawLineSample(ui, draw, {at.x, at.y + ImGui::GetFontSize() / 2}, ui.px(22), line,
                       faded(line.colour, line.faint ? 0.5f : 1.0f));
        drawText(draw, {at.x + ui.px(30), at.y}, ui.theme.muted, line.name);
        drawText(draw, {end.x - padding - textWidth(reading.text), at.y}, ui.theme.text, reading.text);
    }
}

} // namespace

void drawReadout(const PlotFrame& frame, const PlotOptions& options, float mouseX) {
    const std::optional<double> x = snapped(frame, frame.xAt(mouseX));
    if (!x || *x < frame.x.low || *x > frame.x.high) return;
    const Ui& ui = frame.ui;
    const float hairline = std::round(frame.at(*x, frame.y.low).x);
    frame.draw.AddLine({hairline, frame.low.y}, {hairline, frame.high.y}, ui.theme.muted, ui.line());
    std::vector<Reading> readings = readingsAt(frame, *x, options.y);
    for (const Reading& reading : readings) {
        if (reading.at.y < frame.low.y || reading.at.y > frame.high.y) continue;
        drawMark(frame.draw, reading.at, ui.px(5), reading.line->dashed, frame.ground);
        drawLineMark(ui, frame.draw, reading.at, *reading.line, frame.ground);
    }
    // As many as fit into the window; the rest is in the CSV.
    const auto most = static_cast<std::size_t>(
        std::max(ImGui::GetIO().DisplaySize.y * 0.6f / (ImGui::GetFontSize() + ui.px(4)), 1.0f));
    if (readings.size() > most) readings.resize(most);
    const std::string title =
        std::string(translated(options.x.title)) + " " + plotValue(axisValue(*x, frame.logX), options.x);
    drawReadoutBox(frame, title, readings, hairline);
}

} // namespace lockstep::demos
