// What lies between two curves of a plot.
#include <algorithm>
#include <cmath>

#include "demos/draw/plot_frame.h"

namespace lockstep::demos {

namespace {

// Where a value lies on the screen, no farther out than the plot's edge; NaN for what the axis cannot show.
float heightOf(const PlotFrame& frame, double value) {
    if (value == HUGE_VAL) return frame.low.y;
    const double position = axisPosition(value, frame.logY);
    if (std::isnan(position)) return frame.logY && value <= 0 ? frame.high.y : NAN;
    return std::clamp(frame.at(frame.x.low, position).y, frame.low.y, frame.high.y);
}

void fillBand(const PlotFrame& frame, const PlotBand& band) {
    struct Edge {
        float x, low, high;
    };
    std::vector<Edge> edges;
    for (std::size_t i = 0; i < band.x.size(); ++i) {
        const double position = axisPosition(band.x[i], frame.logX);
        if (std::isnan(position)) continue;
        const float x = std::clamp(frame.at(position, frame.y.low).x, frame.low.x, frame.high.x);
        const bool last = i + 1 == band.x.size();
        if (!edges.empty() && !last && x - edges.back().x < 1) continue; // one to a pixel
        edges.push_back({x, heightOf(frame, band.low[i]), heightOf(frame, band.high[i])});
    }
    for (std::size_t i = 1; i < edges.size(); ++i) {
        const auto& [left, leftLow, leftHigh] = edges[i - 1];
        const auto& [right, rightLow, rightHigh] = edges[i];
        if (std::isnan(leftLow + leftHigh + rightLow + rightHigh)) continue;
        frame.draw.AddQuadFilled({left, leftHigh}, {right, rightHigh}, {right, rightLow}, {left, leftLow},
                                 band.colour);
    }
}

} // namespace

void drawPlotBands(const PlotFrame& frame, std::span<const PlotBand> bands) {
    // Smooth edges would show where two pieces meet.
    const ImDrawListFlags flags = frame.draw.Flags;
    frame.draw.Flags &= ~ImDrawListFlags_AntiAliasedFill;
    for (const PlotBand& band : bands) fillBand(frame, band);
    frame.draw.Flags = flags;
}

} // namespace lockstep::demos
