// One frame of one plot: its place on the screen and its contents. For the parts of Plot only.
#pragma once

#include "demos/draw/plot.h"

namespace lockstep::demos {

/// A curve as it is drawn.
struct PlotCurve {
    const PlotLine* line = nullptr;
    std::vector<double> smooth; ///< empty: not smoothed

    std::span<const double> y() const { return smooth.empty() ? line->y : std::span<const double>(smooth); }
};

struct PlotFrame {
    Ui& ui;
    ImDrawList& draw;
    ImVec2 low; ///< the area of the curves, on the screen
    ImVec2 high;
    PlotRange x; ///< positions
    PlotRange y;
    bool logX = false;
    bool logY = false;
    ImU32 ground = 0; ///< what the plot lies on
    std::vector<PlotCurve> curves;

    float width() const { return high.x - low.x; }
    float height() const { return high.y - low.y; }
    ImVec2 at(double px, double py) const {
        return {low.x + static_cast<float>((px - x.low) / x.span()) * width(),
                high.y - static_cast<float>((py - y.low) / y.span()) * height()};
    }
    /// Where a sample lies.
    ImVec2 at(const PlotCurve& curve, std::size_t index) const {
        return at(axisPosition(curve.line->x[index], logX), axisPosition(curve.y()[index], logY));
    }
    std::optional<std::size_t> nearest(const PlotCurve& curve, double position) const {
        return nearestSample(curve.line->x, curve.y(), logX, logY, position);
    }
    double xAt(float screen) const { return x.low + (screen - low.x) / width() * x.span(); }
    double yAt(float screen) const { return y.low + (high.y - screen) / height() * y.span(); }
};

/// Whether a line is dashed, in a short sample: for legends and read-outs.
void drawLineSample(const Ui& ui, ImDrawList& draw, ImVec2 left, float width, const PlotLine& line,
                    ImU32 colour);
/// A square mark, or a diamond for dashed lines: as the lanes that are drawn so have.
void drawMark(ImDrawList& draw, ImVec2 centre, float radius, bool diamond, ImU32 colour);

void drawPlotBands(const PlotFrame& frame, std::span<const PlotBand> bands);
void drawPlotCurves(const PlotFrame& frame);
/// Names at the ends of the lines.
void drawEndLabels(const PlotFrame& frame, const Ui::Place& whole);
/// Room that the names want on the right; 0 when they would take too much of `width`.
float endLabelRoom(const PlotFrame& frame, float width);

/// The hairline under the mouse and every line's value there.
void drawReadout(const PlotFrame& frame, const PlotOptions& options, float mouseX);

/// "time (s)"
std::string axisTitle(const PlotAxis& axis);
/// The same, translated: for pictures, not for tables.
std::string shownAxisTitle(const PlotAxis& axis);

} // namespace lockstep::demos
