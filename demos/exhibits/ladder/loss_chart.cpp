#include "demos/exhibits/ladder/loss_chart.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "demos/exhibits/ladder/rung_charts.h"

namespace lockstep::demos {

namespace {

/// Steps and losses of one rung's stretches, with a gap between two of them.
Curve curveOf(const std::vector<LadderLoss>& losses, std::size_t rung) {
    Curve curve;
    bool gap = false;
    for (const LadderLoss& loss : losses) {
        if (loss.rung != rung) {
            gap = !curve.x.empty();
            continue;
        }
        if (gap) { // from the last one before it, a line would cross what others have trained
            curve.x.push_back(static_cast<double>(loss.step) - 0.5);
            curve.y.push_back(std::numeric_limits<double>::quiet_NaN());
            gap = false;
        }
        curve.x.push_back(static_cast<double>(loss.step));
        curve.y.push_back(static_cast<double>(loss.loss));
    }
    return curve;
}

std::string noLossesText(const LadderModel& model) {
    if (!model.running() && model.busy()) return "A preview is on its way.";
    if (!model.running()) return "Press Run to train the network on this rung.";
    const std::string doing = model.doing();
    return doing.empty() ? "Training has begun; its first loss is on the way."
                         : translatedFormat("Training begins after this: {}.", doing);
}

} // namespace

void drawLosses(Ui& ui, const LadderModel& model, Plot& plot) {
    std::vector<Curve> curves;
    std::vector<PlotLine> lines;
    curves.reserve(2 * model.rungs().size() + 1);
    if (const auto& preview = model.knownLossPreview(); !preview.empty()) {
        const Curve& kept = curves.emplace_back(curveOf(preview, preview.front().rung));
        lines.push_back({.name = translatedFormat("{}, preview", model.rungs()[preview.front().rung].lane),
                         .colour = ui.theme.muted,
                         .x = kept.x,
                         .y = kept.y});
    }
    for (const bool earlier : {true, false})
        for (std::size_t rung = 0; rung < model.rungs().size(); ++rung) {
            Curve curve = curveOf(earlier ? model.earlier() : model.losses(), rung);
            if (curve.x.empty()) continue;
            const Curve& kept = curves.emplace_back(std::move(curve));
            lines.push_back({.name = std::string(model.rungs()[rung].lane),
                             .colour = seriesColour(ui.theme, rung),
                             .dashed = rung % 2 == 1,
                             .faint = earlier,
                             .x = kept.x,
                             .y = kept.y});
        }
    // The plot says it itself where it is empty.
    if (model.running() && model.losses().empty() && !lines.empty()) ui.muted(noLossesText(model));
    const ImVec2 room = ImGui::GetContentRegionAvail();
    plot.draw(ui, "ladder loss",
              "The loss of this rung's training, step by step. The wheel zooms, a drag pans.", lines,
              {.x = {.title = "step", .unit = "", .whole = true},
               .y = {.title = "loss", .unit = ""},
               .size = {room.x, std::max(room.y, ui.px(120))},
               .empty = noLossesText(model)});
}

} // namespace lockstep::demos
