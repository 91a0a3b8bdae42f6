// The curves of a plot, the bands between curves, and the names at their ends.
#pragma once

#include "demos/draw/plot_frame.h"

namespace lockstep::demos {

/// Whether a line is dashed, in a short sample: for legends and read-outs.
void drawLineSample(const Ui& ui, ImDrawList& draw, ImVec2 left, float width, const PlotLine& line,
                    ImU32 colour);
/// A square mark, or a diamond for dashed lines: as the lanes that are drawn so have.
void drawMark(ImDrawList& draw, ImVec2 centre, float radius, bool diamond, ImU32 colour);
/// A line's own mark, as large as all; what is within an outline is `ground`.
void drawLineMark(const Ui& ui, ImDrawList& draw, ImVec2 centre, const PlotLine& line, ImU32 ground);

void drawPlotBands(const PlotFrame& frame, std::span<const PlotBand> bands);
void drawPlotCurves(const PlotFrame& frame);
/// Names at the ends of the lines.
void drawEndLabels(const PlotFrame& frame, const Ui::Place& whole);
/// Room that the names want on the right; 0 when they would take too much of `width`.
float endLabelRoom(const PlotFrame& frame, float width);

} // namespace lockstep::demos
