#include "demos/lab/matrix_curves.h"

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "demos/words/text.h"

namespace lockstep::demos {

std::optional<LabPoint> pointClaimed(const LabSeries* series) {
    if (series == nullptr || series->points.empty()) return std::nullopt;
    const LabPoint& last = series->points.back();
    const double scale = std::pow(claimed / last.x, 3);
    return LabPoint{claimed, last.median * scale, last.low * scale, last.high * scale};
}

void drawMatrixCurves(Ui& ui, const Experiment& experiment, const LabResult& result, LabView& view,
                      ImVec2 size) {
    struct Curve {
        std::vector<double> x, y;
    };
    std::vector<Curve> curves;
    curves.reserve(3 * result.series.size()); // lines point into it
    std::vector<PlotLine> lines;
    std::size_t ofMachine[2] = {0, 0};
    for (const LabSeries& series : result.series) {
        if (series.points.empty()) continue;
        PlotLine style;
        styleLabLine(ui.theme, style, series.gpu, ofMachine[series.gpu ? 1 : 0]++);
        if (!draws(view, experiment, result, series)) continue;
        Curve& curve = curves.emplace_back();
        for (const LabPoint& point : series.points) {
            curve.x.push_back(point.x);
            curve.y.push_back(point.median);
        }
        const double claim = pointClaimed(&series)->median;
        const std::string name = fmt::format("{}: {}", view.nameOf(series), duration(1e-3 * claim));
        const bool whole = series.points.back().x == claimed;
        PlotLine& line = lines.emplace_back(style);
        line.name = whole ? name : std::string(); // at the end of what is drawn
        line.x = curve.x;
        line.y = curve.y;
        line.points = true;
        if (whole) continue;
        const Curve& onward = curves.emplace_back(Curve{{curve.x.back(), claimed}, {curve.y.back(), claim}});
        lines.push_back({.name = {}, .colour = style.colour, .dotted = true, .x = onward.x, .y = onward.y});
        const Curve& end = curves.emplace_back(Curve{{claimed}, {claim}});
        PlotLine& last = lines.emplace_back(style);
        last.name = name;
        last.x = end.x;
        last.y = end.y;
    }
    const BuiltInLines builtIn(ui, view);
    lines.insert(lines.end(), builtIn.lines().begin(), builtIn.lines().end());
    view.plot.draw(ui, "lab", labPlotWords, lines,
                   {.x = {.title = std::string(experiment.x.title), .unit = {}, .log = true},
                    .y = {.title = std::string(experiment.y.title),
                          .unit = std::string(experiment.y.unit),
                          .log = true,
                          .measured = true},
                    .size = size,
                    .empty = "Predict, then measure.",
                    .legend = false,
                    .overlay = builtInLegend});
}

} // namespace lockstep::demos
