// The picture that most experiments have: their series over what is turned.
#include <functional>
#include <vector>

#include <fmt/format.h>

#include "demos/lab/experiment.h"

namespace lockstep::demos {

namespace {

// On the left of the plot's legend. Returns its width.
float clearButton(Ui& ui, Sketch& sketch) {
    if (sketch.empty()) return 0;
    const SmallLetters small(ui);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(7), ui.px(2)}); // as the plot's own buttons have
    if (ui.button("Clear sketch##parallelism", "Deletes your sketch.")) sketch.clear();
    ImGui::PopStyleVar();
    const float width = ImGui::GetItemRectSize().x + ui.px(10);
    ImGui::SetCursorScreenPos(start);
    return width;
}

// In place of an empty plot.
void drawWhatItIsAbout(const Ui& ui, const Experiment& experiment, const LabView& view, float height) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float high = height > 0 ? height : room.y;
    drawLabScene(ui, experiment.scene(), {at, {at.x + room.x, at.y + high}}, view.seconds);
    ImGui::Dummy({room.x, high});
}

/// Above the empty axes, where both have room.
void drawIntroduction(const Ui& ui, const Experiment& experiment, const LabView& view) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float high = std::min(0.45f * room.y, room.x * LabScene::height / LabScene::width);
    if (high < ui.px(90)) return;
    drawLabScene(ui, experiment.scene(), {at, {at.x + room.x, at.y + high}}, view.seconds);
    ImGui::Dummy({room.x, high + ui.px(6)});
}

} // namespace

void styleLabLine(const Theme& theme, PlotLine& line, bool gpu, std::size_t index) {
    // Places among seriesColour(), whose first two are the machines': green and purple go with the GPU's
    // blue, yellow and red with the CPU's orange.
    constexpr std::size_t places[2][3] = {{1, 4, 5}, {0, 2, 3}};
    line.dashed = gpu;
    line.hollow = index % 2 == 1;
    line.colour = index < std::size(places[gpu]) ? seriesColour(theme, places[gpu][index])
                                                 : mixed(gpu ? theme.gpu : theme.cpu, theme.text, 0.85f);
}

BuiltInLines::BuiltInLines(const Ui& ui, const LabView& view) {
    if (view.builtIn == nullptr) return;
    std::size_t index = 0;
    for (const LabSeries& series : view.builtIn->series) {
        if (!series.gpu || series.points.empty()) continue;
        std::vector<double>& x = numbers_.emplace_back();
        std::vector<double>& y = numbers_.emplace_back();
        for (const LabPoint& point : series.points) {
            if (ui.masked && !x.empty()) break; // how many there are depends on the machine's speed
            x.push_back(point.x);
            y.push_back(point.median);
        }
        PlotLine& line = lines_.emplace_back(PlotLine{
            .name = series.fullName().append(translated(", built in")), .faint = true, .x = x, .y = y});
        styleLabLine(ui.theme, line, true, index++);
    }
}

void drawLabCurves(Ui& ui, const Experiment& experiment, const LabResult& result, LabView& view, float height,
                   std::span<const PlotLine> models) {
    struct Values {
        std::vector<double> x, median, low, high;
    };
    std::vector<Values> values(result.series.size());
    std::vector<PlotLine> lines;
    std::vector<PlotBand> spreads;
    std::size_t ofMachine[2] = {0, 0};
    for (std::size_t i = 0; i < result.series.size(); ++i) {
        const LabSeries& series = result.series[i];
        for (const LabPoint& point : series.points) {
            if (ui.masked && !values[i].x.empty()) break; // how many there are depends on the machine's speed
            values[i].x.push_back(point.x);
            values[i].median.push_back(point.median);
            values[i].low.push_back(point.low);
            values[i].high.push_back(point.high);
        }
        if (series.points.empty()) continue;
        const std::size_t index = ofMachine[series.gpu ? 1 : 0]++;
        if (!draws(view, experiment, result, series)) continue;
        PlotLine& line = lines.emplace_back(
            PlotLine{.name = view.nameOf(series), .x = values[i].x, .y = values[i].median, .points = true});
        styleLabLine(ui.theme, line, series.gpu, index);
        spreads.push_back({.colour = faded(line.colour, 0.2f),
                           .x = values[i].x,
                           .low = values[i].low,
                           .high = values[i].high,
                           .shown = true});
    }
    if (!lines.empty() && view.all) lines.insert(lines.end(), models.begin(), models.end());
    const BuiltInLines builtIn(ui, view);
    lines.insert(lines.end(), builtIn.lines().begin(), builtIn.lines().end());
    const bool sketching = view.sketch != nullptr && !result.measured() && !experiment.sketched.empty();
    if (!sketching && !result.measured()) return drawWhatItIsAbout(ui, experiment, view, height);
    if (view.sketch != nullptr && !view.sketch->empty()) lines.push_back(view.sketch->line(ui.theme));
    const auto axisOf = [](const LabAxis& axis) {
        return PlotAxis{.title = std::string(axis.title),
                        .unit = std::string(axis.unit),
                        .log = axis.log,
                        .shown = axis.sketched};
    };
    PlotAxis x = axisOf(experiment.x);
    x.whole = experiment.x.unit.empty();
    PlotAxis y = axisOf(experiment.y);
    y.measured = !sketching;
    if (experiment.axes != nullptr) { // of this device, before measuring and after
        const gpu::Device& device = ui.graphics.device();
        const LabAxes axes = experiment.axes({device.limits().subgroupSize, device.software()});
        x.shown = axes.x;
        y.shown = axes.y;
    }
    if (sketching && experiment.introduced && height <= 0) drawIntroduction(ui, experiment, view);
    const float lead = sketching ? clearButton(ui, *view.sketch) : 0;
    const ImVec2 room = ImGui::GetContentRegionAvail();
    PlotOptions options{.x = x,
                        .y = y,
                        .size = {room.x, height > 0 ? height : std::max(room.y, ui.px(120))},
                        .empty = "Predict, then measure.",
                        .bands = ui.masked ? std::span<const PlotBand>() : spreads,
                        .overlay = builtInLegend};
    std::function<void()> drawn = [] {}; // once the lines that are drawn are not needed any more
    const PlotPen pen{"sketch##parallelism",
                      "Drag to sketch the curve that you expect; dragging over it again replaces that part. "
                      "After measuring, your sketch is compared with the measured curve.",
                      [&](double toX, double toY, bool begins) {
                          drawn = [&, toX, toY, begins] { view.sketch->penTo(x, y, toX, toY, begins); };
                      }};
    if (sketching) {
        options.pen = &pen;
        options.lead = lead;
        options.empty = translatedFormat("Drag the mouse to sketch what you expect of the GPU: {}.",
                                         translated(experiment.sketched));
    }
    view.plot.draw(ui, "lab", labPlotWords, lines, options);
    drawn();
}

} // namespace lockstep::demos
