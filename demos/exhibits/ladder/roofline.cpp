#include "demos/exhibits/ladder/roofline.h"

#include <algorithm>

#include <fmt/format.h>

#include "demos/words/text.h"

namespace lockstep::demos {

std::vector<RungDots> rooflineDots(const LadderModel& model) {
    std::vector<RungDots> all;
    for (std::size_t rung = 0; rung < model.rungs().size(); ++rung) {
        struct Dot {
            double x;
            double y;
            bool now;
        };
        std::vector<Dot> dots;
        for (const auto& [batch, results] : model.resultsByBatch()) {
            const auto found = results.find(model.rungs()[rung].lane);
            if (found == results.end() || !found->second.timed() || found->second.intensity() <= 0) continue;
            dots.push_back(
                {found->second.intensity(), found->second.measure.gflops, batch == model.settings().batch});
        }
        if (dots.empty()) continue;
        std::ranges::sort(dots, {}, &Dot::x);
        RungDots entry;
        entry.rung = rung;
        for (const Dot& dot : dots) {
            if (dot.now) entry.now = entry.x.size();
            entry.x.push_back(dot.x);
            entry.y.push_back(dot.y);
        }
        all.push_back(std::move(entry));
    }
    return all;
}

RoofLine rooflineOf(const Roof& roof, double lowest, double highest) {
    const double ridge = roof.ridge();
    const double from = std::min(lowest, ridge / 4);
    const double to = std::max(highest, ridge * 4);
    return {{from, ridge, to}, {from * roof.gigabytesPerSecond, roof.gflops, roof.gflops}};
}

std::optional<std::size_t> RooflineView::draw(Ui& ui, const LadderModel& model) {
    std::size_t batch = model.settings().batch;
    ImGui::AlignTextToFramePadding();
    ui.muted("Batch");
    ImGui::SameLine(0, ui.px(8));
    ImGui::SetNextItemWidth(std::max(ui.px(80), ImGui::GetContentRegionAvail().x));
    ui.powerSlider("##ladder/walk", batch, 1, 4096);

    const std::vector<RungDots> dots = rooflineDots(model);
    double lowest = 1e30;
    double highest = 0;
    for (const RungDots& each : dots) {
        lowest = std::min(lowest, each.x.front());
        highest = std::max(highest, each.x.back());
    }
    std::vector<PlotLine> lines;
    RoofLine roof;
    if (model.roof() && model.roof()->measured()) {
        roof = rooflineOf(*model.roof(), lowest / 2, highest * 2);
        lines.push_back({.name = "roof", .colour = ui.theme.warning, .x = roof.x, .y = roof.y});
    }
    for (const RungDots& each : dots) {
        PlotLine line;
        line.colour = seriesColour(ui.theme, each.rung);
        line.dashed = each.rung % 2 == 1; // diamonds and squares
        if (each.x.size() > 1) {          // where it has been with other batches
            line.faint = true;
            line.x = each.x;
            line.y = each.y;
            lines.push_back(line);
        }
        if (!each.now) continue;
        line.name = model.rungs()[each.rung].lane.substr(4);
        line.faint = false;
        line.points = true;
        line.x = std::span(each.x).subspan(*each.now, 1);
        line.y = std::span(each.y).subspan(*each.now, 1);
        lines.push_back(line);
    }
    PlotOptions options;
    options.x = {.title = "FLOP per byte asked of memory", .unit = "", .log = true, .measured = true};
    options.y = {.title = "GFLOP/s", .unit = "", .log = true, .measured = true};
    options.empty = "Measure the rungs: each becomes a dot.";
    const float below = 3 * ImGui::GetTextLineHeightWithSpacing();
    options.size = ImGui::GetContentRegionAvail();
    options.size.y = std::max(options.size.y - below, ui.px(120));
    plot_.draw(ui, "ladder roofline", lines, options);
    if (model.roof() && model.roof()->measured()) {
        const Roof& measured = *model.roof();
        std::string device = model.gpuMachine() ? honestDevice(*model.gpuMachine(), 60) + ". " : "";
        ui.paragraph(device + ui.timing(fmt::format("The roof rises with memory, {}, until arithmetic is the "
                                                    "limit, {}. Caches can lift a dot above the slope.",
                                                    amountText(measured.gigabytesPerSecond * 1e9, "B/s"),
                                                    amountText(measured.gflops * 1e9, "FLOP/s"))),
                     ui.theme.muted);
    }
    if (batch == model.settings().batch) return std::nullopt;
    return batch;
}

} // namespace lockstep::demos
