// One frame of one plot: its place on the screen and its contents. Only Plot and what it draws with need it.
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

} // namespace lockstep::demos
