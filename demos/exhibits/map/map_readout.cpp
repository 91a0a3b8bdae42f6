// The map's explanations: the legend, a remark, and the details of one network.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "demos/exhibits/map/map_exhibit.h"
#include "demos/exhibits/map/map_words.h"
#include "demos/kit/exhibit.h"
#include "demos/report/grid_colours.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

/// A caption, and below it the colours between the numbers of their ends.
struct LegendBar {
    std::string caption;
    std::string from;
    std::string to;
    std::vector<std::uint32_t> colours;
};

void drawLegendBar(const Ui& ui, ImVec2 start, float width, const LegendBar& bar) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float line = ImGui::GetTextLineHeight();
    const float y = start.y + line + ui.px(2);
    draw.AddText(start, ui.theme.muted, fittedText(bar.caption, width).c_str());
    draw.AddText({start.x, y}, ui.theme.text, bar.from.c_str());
    const float toWidth = ImGui::CalcTextSize(bar.to.c_str()).x;
    draw.AddText({start.x + width - toWidth, y}, ui.theme.text, bar.to.c_str());
    const float left = start.x + ImGui::CalcTextSize(bar.from.c_str()).x + ui.px(8);
    const float right = start.x + width - toWidth - ui.px(8);
    const float step = (right - left) / static_cast<float>(bar.colours.size());
    for (std::size_t i = 0; i < bar.colours.size(); ++i) {
        const float x = left + static_cast<float>(i) * step;
        draw.AddRectFilled({x, y + line * 0.15f}, {x + step + 0.5f, y + line * 0.85f}, bar.colours[i]);
    }
}

} // namespace

float MapExhibit::remarkLines(const Ui& ui) { return ui.presenter ? 1 : 2; }

void MapExhibit::drawLegend(Ui& ui) const {
    constexpr std::size_t samples = 64;
    const MapJob& job = model_.settings().job;
    LegendBar converged{"converged, mean loss in % of the first", "100", "0", {}};
    LegendBar diverged{"diverged at step, or no better at the end", "1", std::to_string(job.steps), {}};
    for (std::size_t i = 0; i < samples; ++i) {
        // Even steps of colour: the scales are a square root and a logarithm.
        const double share = (static_cast<double>(i) + 0.5) / samples;
        converged.colours.push_back(mapColour(job, static_cast<float>((1 - share) * (1 - share))));
        const double first = std::log1p(1.0);
        const double last = std::log1p(static_cast<double>(job.steps));
        diverged.colours.push_back(
            mapColour(job, -static_cast<float>(std::expm1(first + share * (last - first)))));
    }
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float gap = ui.px(24);
    const float width = (ImGui::GetContentRegionAvail().x - gap) / 2;
    drawLegendBar(ui, start, width, converged);
    drawLegendBar(ui, {start.x + width + gap, start.y}, width, diverged);
    ImGui::Dummy({2 * width + gap, 2 * ImGui::GetTextLineHeight() + ui.px(2)});
}

// One sentence: what is under the mouse where no panel says it, else how far the map is.
std::string MapExhibit::remark(const Ui& ui) {
    const MapWindow& window = model_.window();
    const MapSize size = model_.size();
    const MapPane* pane = hoveredPane();
    if (pane != nullptr && sidePanels(ui).details == 0) {
        const MapPoint point =
            window.point(probed() % size.width, probed() / size.width, size.width, size.height);
        return fmt::format(
            "{:.3g}, {:.3g}: {}", point.x, point.y,
            endingText(model_.settings().job, model_.side(pane->machine()).grid.outcome(probed())));
    }
    if (const auto agreement = model_.agreement()) return agreementText(*agreement);
    if (!model_.running() && !model_.complete()) return "Press Run to train a network for every pixel.";
    return "Zoom with the wheel or a double click; drag to pan.";
}

void MapExhibit::drawRemark(Ui& ui) {
    const bool pixel = hovered() && sidePanels(ui).details == 0;
    if (model_.closest() && !pixel) {
        ui.paragraph(
            "The zoom ends here: any closer, neighbouring pixels would round to the same fp32 numbers.",
            ui.theme.warning);
        return;
    }
    const std::string text = remark(ui);
    const float room = ImGui::GetContentRegionAvail().x;
    const float lines =
        ImGui::CalcTextSize(text.c_str(), nullptr, false, room).y / ImGui::GetTextLineHeight();
    const ImU32 colour = model_.complete() ? ui.theme.text : ui.theme.muted;
    if (lines <= remarkLines(ui))
        ui.paragraph(text, colour);
    else // its first sentence says it, too
        ui.text(fittedText(std::string_view(text).substr(0, text.find(". ")), room), colour);
}

void MapExhibit::drawDetails(Ui& ui) {
    const MapSize size = model_.size();
    const MapWindow& window = model_.window();
    const MapJob& job = model_.settings().job;
    const std::uint32_t pixel = probed();
    const double decades = (window.right - window.left) / size.width;
    const MapPoint point = window.point(pixel % size.width, pixel / size.width, size.width, size.height);
    ui.heading(hovered() ? "The network under the mouse" : "The network in the middle");
    ui.row(acrossName(job.axes).full, hyperparameterText(std::log10(static_cast<double>(point.x)), decades));
    ui.row(upName(job.axes).full, hyperparameterText(std::log10(static_cast<double>(point.y)), decades));
    for (const MapMachine machine : mapMachines) {
        if (!model_.enabled(machine)) continue;
        ui.muted(titleOf(machine));
        ui.paragraph(endingText(job, model_.side(machine).grid.outcome(pixel)));
    }
    PlotLine line;
    line.colour = ui.theme.text;
    if (const auto& curve = probe_.curve()) {
        line.x = curve->steps;
        line.y = curve->losses;
    }
    PlotOptions options;
    options.x = {.title = "step", .unit = "", .whole = true};
    options.y = {.title = "loss of this network (CPU)", .unit = "", .log = true};
    options.size = {0, ui.px(190)};
    lossPlot_.draw(ui, "map loss", {&line, 1}, options);
    ImGui::Dummy({0, ui.px(4)});
    ui.heading("Every pixel is a network");
    ui.row("layers", networkText(job));
    ui.row("examples, all in each step", grouped(job.examples));
    ui.row("steps", grouped(job.steps));
    ui.row("in the picture", grouped(size.pixels()));
    ui.paragraph(
        "All start from the same weights and learn the same examples; only the two hyperparameters on "
        "the axes differ. The border between networks that learn and networks that diverge stays ragged "
        "however far you zoom in: it is a fractal (Sohl-Dickstein, arXiv 2402.06184).",
        ui.theme.muted);
}

void MapExhibit::drawMenu(Ui& ui) {
    const auto item = [&ui](const char* label, const char* key, bool enabled) {
        const bool chosen = ImGui::MenuItem(label, key, false, enabled);
        ui.noteControl((std::string("menu/") + label).c_str());
        return chosen;
    };
    if (item("Where I was", "Alt+Left", model_.history().canGoBack())) model_.goBack();
    if (item("Where I went", "Alt+Right", model_.history().canGoForward())) model_.goForward();
}

} // namespace lockstep::demos
