#include "demos/draw/plot_curves.h"

#include <algorithm>
#include <cmath>

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

void nameBand(const PlotFrame& frame, const PlotBand& band) {
    const auto edge = [&](double x) {
        return std::clamp(frame.at(axisPosition(x, frame.logX), frame.y.low).x, frame.low.x, frame.high.x);
    };
    const float left = edge(band.x.front());
    const float width = edge(band.x.back()) - left;
    const float wanted = textWidth(band.name);
    if (!(wanted <= width)) return;
    // Below the highest line, which has a 25th of the height above it.
    const float top = frame.low.y + frame.height() / 16 + frame.ui.px(3);
    drawText(frame.draw, {left + (width - wanted) / 2, top}, frame.ui.theme.muted, band.name);
}

struct Stroke {
    ImU32 colour = 0;
    float thickness = 1;
    bool dashed = false;
    bool dotted = false;
};

// Dashes along a polyline. Noise is not followed up and down: then dashes would be dust.
void strokeDashes(ImDrawList& draw, std::span<const ImVec2> points, const Stroke& stroke, float on,
                  float off) {
    float across = 0;
    float along = 0;
    for (std::size_t i = 1; i < points.size(); ++i) {
        across += points[i].x - points[i - 1].x;
        along += std::abs(points[i].y - points[i - 1].y);
    }
    const float steep = along > 3 * across ? 3 * across / along : 1;
    std::vector<ImVec2> piece{points.front()}; // the dash under way
    const auto lift = [&] {
        if (piece.size() > 1)
            draw.AddPolyline(piece.data(), static_cast<int>(piece.size()), stroke.colour, 0,
                             stroke.thickness);
        piece.clear();
    };
    bool down = true;
    float left = on; // of the dash or gap
    for (std::size_t i = 1; i < points.size(); ++i) {
        const ImVec2 from = points[i - 1];
        const ImVec2 to = points[i];
        const float length = std::max(std::hypot(to.x - from.x, (to.y - from.y) * steep), 1e-6f);
        float done = 0;
        while (length - done > left) {
            done += left;
            const float share = done / length;
            piece.push_back({from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share});
            if (down) lift();
            down = !down;
            left = down ? on : off;
        }
        left -= length - done;
        if (down) piece.push_back(to);
    }
    lift();
}

void strokePolyline(const Ui& ui, ImDrawList& draw, std::span<const ImVec2> points, const Stroke& stroke) {
    if (points.size() < 2) return;
    if (stroke.dotted)
        strokeDashes(draw, points, stroke, ui.px(2), ui.px(4));
    else if (stroke.dashed)
        strokeDashes(draw, points, stroke, ui.px(8), ui.px(5));
    else
        draw.AddPolyline(points.data(), static_cast<int>(points.size()), stroke.colour, 0, stroke.thickness);
}

// Far outside, a line need not be drawn where it is: the renderer's whole numbers stay small.
ImVec2 nearby(const PlotFrame& frame, ImVec2 at) {
    constexpr float far = 8192;
    return {std::clamp(at.x, frame.low.x - far, frame.high.x + far),
            std::clamp(at.y, frame.low.y - far, frame.high.y + far)};
}

std::vector<PlotPoint> seen(const PlotFrame& frame, const PlotLine& line, std::span<const double> y) {
    return decimated(line.x, y, frame.logX, frame.logY, frame.x,
                     static_cast<std::size_t>(std::max(frame.width(), 1.0f)));
}

void strokeCurve(const PlotFrame& frame, std::span<const PlotPoint> points, const Stroke& stroke) {
    std::vector<ImVec2> run;
    const auto finish = [&] {
        // A single sample is drawn as a dot, since a line of one point is invisible.
        if (run.size() == 1) frame.draw.AddCircleFilled(run[0], stroke.thickness, stroke.colour);
        strokePolyline(frame.ui, frame.draw, run, stroke);
        run.clear();
    };
    for (const PlotPoint& point : points) {
        if (point.begins) finish();
        run.push_back(nearby(frame, frame.at(point.x, point.y)));
    }
    finish();
}

bool inside(const PlotFrame& frame, ImVec2 at) {
    return at.x >= frame.low.x - 1 && at.x <= frame.high.x + 1 && at.y >= frame.low.y - 1 &&
           at.y <= frame.high.y + 1;
}

void drawCurve(const PlotFrame& frame, const PlotCurve& curve) {
    const PlotLine& line = *curve.line;
    const Ui& ui = frame.ui;
    if (line.faint) {
        strokeCurve(frame, seen(frame, line, curve.y()), {faded(line.colour, 0.35f), ui.line(), line.dashed});
        return;
    }
    if (!curve.smooth.empty())
        strokeCurve(frame, seen(frame, line, line.y), {faded(line.colour, 0.28f), ui.line(), false});
    strokeCurve(frame, seen(frame, line, curve.y()), {line.colour, ui.line(2), line.dashed, line.dotted});
}

void drawMarks(const PlotFrame& frame, const PlotCurve& curve) {
    const PlotLine& line = *curve.line;
    const std::vector<PlotPoint> points = seen(frame, line, curve.y());
    // Marks must not touch one another.
    if (points.size() > static_cast<std::size_t>(frame.width() / frame.ui.px(12))) return;
    for (const PlotPoint& point : points)
        if (const ImVec2 at = frame.at(point.x, point.y); inside(frame, at))
            drawLineMark(frame.ui, frame.draw, at, line, frame.ground);
}

struct EndLabel {
    const PlotLine* line = nullptr;
    ImVec2 end; ///< of the line
};

void drawEndLabel(const PlotFrame& frame, const EndLabel& label, const PlotLabel& place) {
    const Ui& ui = frame.ui;
    const PlotLine& line = *label.line;
    const auto centre = static_cast<float>(place.centre);
    const float height = ImGui::GetFontSize();
    const ImVec2 corner{static_cast<float>(place.left) + ui.px(10), centre - height / 2};
    if (std::abs(centre - label.end.y) > ui.px(3))
        frame.draw.AddLine(label.end, {corner.x - ui.px(2), centre}, faded(line.colour, 0.6f), ui.line());
    // Over other curves, letters need a ground of their own.
    const ImVec2 far{static_cast<float>(place.right), centre + height / 2};
    frame.draw.AddRectFilled({corner.x - ui.px(2), corner.y}, far, faded(frame.ground, 0.75f), ui.px(3));
    drawText(frame.draw, corner, legible(ui.theme, line.colour), line.name);
}

} // namespace

void drawMark(ImDrawList& draw, ImVec2 centre, float radius, bool diamond, ImU32 colour) {
    const float r = diamond ? 1.3f * radius : 0.95f * radius;
    if (diamond)
        draw.AddQuadFilled({centre.x, centre.y - r}, {centre.x + r, centre.y}, {centre.x, centre.y + r},
                           {centre.x - r, centre.y}, colour);
    else
        draw.AddRectFilled({centre.x - r, centre.y - r}, {centre.x + r, centre.y + r}, colour);
}

void drawLineMark(const Ui& ui, ImDrawList& draw, ImVec2 centre, const PlotLine& line, ImU32 ground) {
    const float radius = ui.px(line.hollow ? 4.5f : 3.5f);
    drawMark(draw, centre, radius, line.dashed, line.colour);
    if (line.hollow) drawMark(draw, centre, radius - ui.line(2), line.dashed, ground);
}

void drawLineSample(const Ui& ui, ImDrawList& draw, ImVec2 left, float width, const PlotLine& line,
                    ImU32 colour) {
    const ImVec2 ends[] = {left, {left.x + width, left.y}};
    const float thickness = ui.line(line.faint ? 1.0f : 2.0f);
    if (line.dotted)
        strokePolyline(ui, draw, ends, {colour, thickness, false, true});
    else if (line.dashed) // two dashes at any width
        strokeDashes(draw, ends, {colour, thickness, true}, width * 0.4f, width * 0.2f);
    else
        strokePolyline(ui, draw, ends, {colour, thickness, false});
}

void drawPlotBands(const PlotFrame& frame, std::span<const PlotBand> bands) {
    // Smooth edges would show where two pieces meet.
    const ImDrawListFlags flags = frame.draw.Flags;
    frame.draw.Flags &= ~ImDrawListFlags_AntiAliasedFill;
    for (const PlotBand& band : bands) {
        fillBand(frame, band);
        if (!band.name.empty() && !band.x.empty()) nameBand(frame, band);
    }
    frame.draw.Flags = flags;
}

void drawPlotCurves(const PlotFrame& frame) {
    const float half = frame.ui.line(2); // a line along the edge keeps its width
    frame.draw.PushClipRect({frame.low.x - half, frame.low.y - half},
                            {frame.high.x + half, frame.high.y + half}, true);
    // Earlier runs lie behind.
    for (const bool faint : {true, false})
        for (const PlotCurve& curve : frame.curves)
            if (curve.line->faint == faint) drawCurve(frame, curve);
    frame.draw.PopClipRect();
    for (const PlotCurve& curve : frame.curves)
        if (curve.line->points && !curve.line->faint) drawMarks(frame, curve);
}

void drawEndLabels(const PlotFrame& frame, const Ui::Place& whole) {
    std::vector<EndLabel> labels;
    std::vector<PlotLabel> places;
    for (const PlotCurve& curve : frame.curves) {
        const PlotLine& line = *curve.line;
        if (line.faint || line.name.empty()) continue;
        const auto index = frame.nearest(curve, frame.x.high);
        if (!index) continue;
        const ImVec2 last = frame.at(curve, *index);
        if (last.x < frame.low.x) continue;
        // Where the line ends, which gets a mark, or only leaves the picture.
        const ImVec2 end{std::min(last.x, frame.high.x), std::clamp(last.y, frame.low.y, frame.high.y)};
        if (inside(frame, last) && !line.dotted) drawLineMark(frame.ui, frame.draw, end, line, frame.ground);
        const float width = textWidth(line.name) + frame.ui.px(14);
        // Labels that do not fit beside the curves go over them.
        const float left = std::min(end.x, whole.max.x - width);
        if (left < frame.low.x) continue;
        labels.push_back({&line, end});
        places.push_back({left, left + width, end.y});
    }
    moveApart(places, ImGui::GetFontSize() * 1.1, frame.low.y, frame.high.y);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const bool fits = places[i].centre >= frame.low.y; // more names than room: the legend has all
        if (fits) drawEndLabel(frame, labels[i], places[i]);
    }
}

float endLabelRoom(const PlotFrame& frame, float width) {
    float room = 0;
    for (const PlotCurve& curve : frame.curves)
        if (!curve.line->faint && !curve.line->name.empty())
            room = std::max(room, textWidth(curve.line->name) + frame.ui.px(14));
    return room > 0.35f * width ? 0 : room;
}

} // namespace lockstep::demos
