// What a plot says about the place under the mouse.
#include <algorithm>
#include <cmath>

#include "demos/draw/plot_frame.h"

namespace lockstep::demos {

namespace {

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
        const auto index = nearestSample(curve.line->x, curve.y(), frame.logX, frame.logY, at);
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
    const auto drawn = [&](std::size_t i) {
        return !std::isnan(axisPosition(xs[i], frame.logX)) &&
               !std::isnan(axisPosition(curve.y()[i], frame.logY));
    };
    return drawn(right - 1) && drawn(right);
}

std::vector<Reading> readingsAt(const PlotFrame& frame, double x, const PlotAxis& axis) {
    std::vector<Reading> readings;
    for (const PlotCurve& curve : frame.curves) {
        if (curve.line->name.empty()) continue;
        const auto index = nearestSample(curve.line->x, curve.y(), frame.logX, frame.logY, x);
        if (!index) continue;
        const double sample = axisPosition(curve.line->x[*index], frame.logX);
        if (!reaches(frame, curve, x, sample)) continue;
        const double value = curve.y()[*index];
        readings.push_back({curve.line, frame.at(sample, axisPosition(value, frame.logY)), value, {}});
    }
    const bool decimals = std::ranges::any_of(
        readings, [](const Reading& reading) { return reading.value != std::floor(reading.value); });
    for (Reading& reading : readings) reading.text = plotValue(reading.value, axis, decimals);
    return readings;
}

class ReadoutBox {
  public:
    ReadoutBox(const PlotFrame& frame, std::string title, std::span<const Reading> readings)
        : frame_(frame), ui_(frame.ui), title_(std::move(title)), readings_(readings) {
        for (const Reading& reading : readings_) {
            nameWidth_ = std::max(nameWidth_, widthOf(reading.line->name));
            valueWidth_ = std::max(valueWidth_, widthOf(reading.text));
        }
        size_.x =
            std::max(ui_.px(30) + nameWidth_ + ui_.px(14) + valueWidth_, widthOf(title_)) + 2 * padding();
        size_.y = rowHeight() * static_cast<float>(readings_.size() + 1) + 2 * padding() - ui_.px(4);
    }

    void draw(float hairline) {
        const ImVec2 display = ImGui::GetIO().DisplaySize;
        float left = hairline + ui_.px(12);
        if (left + size_.x > frame_.high.x) left = hairline - ui_.px(12) - size_.x;
        left = std::clamp(left, 0.0f, std::max(display.x - size_.x, 0.0f));
        const float top = std::clamp(frame_.low.y + ui_.px(8), 0.0f, std::max(display.y - size_.y, 0.0f));
        ImDrawList& draw = *ImGui::GetForegroundDrawList();
        draw.AddRectFilled({left, top}, {left + size_.x, top + size_.y}, ui_.theme.panel, ui_.px(6));
        draw.AddRect({left, top}, {left + size_.x, top + size_.y}, ui_.theme.border, ui_.px(6), 0,
                     ui_.line());
        ImVec2 at{left + padding(), top + padding()};
        draw.AddText(at, ui_.theme.muted, title_.c_str());
        for (const Reading& reading : readings_) {
            at.y += rowHeight();
            const ImVec2 sample{at.x, at.y + ImGui::GetFontSize() / 2};
            drawLineSample(ui_, draw, sample, ui_.px(22), *reading.line,
                           faded(reading.line->colour, reading.line->faint ? 0.5f : 1.0f));
            draw.AddText({at.x + ui_.px(30), at.y}, ui_.theme.muted, reading.line->name.c_str());
            draw.AddText({left + size_.x - padding() - widthOf(reading.text), at.y}, ui_.theme.text,
                         reading.text.c_str());
        }
    }

  private:
    static float widthOf(const std::string& text) { return ImGui::CalcTextSize(text.c_str()).x; }
    float padding() const { return ui_.px(10); }
    float rowHeight() const { return ImGui::GetFontSize() + ui_.px(4); }

    const PlotFrame& frame_;
    const Ui& ui_;
    std::string title_;
    std::span<const Reading> readings_;
    float nameWidth_ = 0;
    float valueWidth_ = 0;
    ImVec2 size_{};
};

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
        drawMark(frame.draw, reading.at, ui.px(3.5f), reading.line->dashed, reading.line->colour);
    }
    // As many as fit into the window; the rest is in the CSV.
    const auto most = static_cast<std::size_t>(
        std::max(ImGui::GetIO().DisplaySize.y * 0.6f / (ImGui::GetFontSize() + ui.px(4)), 1.0f));
    if (readings.size() > most) readings.resize(most);
    const std::string title = options.x.title + " " + plotValue(axisValue(*x, frame.logX), options.x);
    ReadoutBox(frame, title, readings).draw(hairline);
}

} // namespace lockstep::demos
