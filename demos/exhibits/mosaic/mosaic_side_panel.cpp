// One side of the mosaic on the screen: its machine, what it has done so far, its tiles between both axes;
// and the map of its losses.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "demos/draw/icons.h"
#include "demos/exhibits/mosaic/mosaic_verdict.h"
#include "demos/exhibits/mosaic/mosaic_view.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr float markUnits = 4; // of a mark's line, and between it and its value
constexpr float longest = 2;   // of a tile: its longer side by its shorter one

/// Room that marks, values and names of the axes take around a mosaic.
struct AxisRoom {
    float left = 0, above = 0, below = 0;
};
/// Where the name of x stands: behind its values, or, where they take all of the width, below them.
enum class AxisNames { none, beside, below };
/// Where a mosaic lies on the screen.
struct MosaicPlace {
    ImVec2 low;
    ImVec2 high;
    ImVec2 tile;     ///< its size in pixels
    float right = 0; ///< as far as names may reach
    AxisNames names = AxisNames::none;
    AxisRoom room;
};
float widthOf(const AxisTick& tick) { return textWidth(tick.label); }

/// Below the tiles and to their left; a value that has no room between its neighbours is left out.
void drawMarks(const Ui& ui, const PopulationSpec& spec, const MosaicPlace& place, ImU32 colour) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImVec2 low = place.low;
    const ImVec2 high = place.high;
    const float tileX = (high.x - low.x) / static_cast<float>(spec.columns);
    const float tileY = (high.y - low.y) / static_cast<float>(spec.rows);
    const float length = ui.px(markUnits);
    const float letters = ImGui::GetFontSize();
    float free = low.x - ui.px(40); // from here on nothing has been written
    for (const AxisTick& tick : spec.x.ticks(spec.columns)) {
        const float x = std::round(low.x + static_cast<float>(tick.place) * tileX);
        const float half = widthOf(tick) / 2;
        draw.AddLine({x, high.y}, {x, high.y + length}, colour, ui.line());
        if (x - half < free) continue;
        drawText(draw, {x - half, high.y + 2 * length}, colour, withDecimalSign(tick.label));
        free = x + half + 2 * length;
    }
    free = high.y + letters / 2; // above this nothing has been written
    for (const AxisTick& tick : spec.y.ticks(spec.rows)) {
        const float y = std::round(high.y - static_cast<float>(tick.place) * tileY);
        draw.AddLine({low.x - length, y}, {low.x, y}, colour, ui.line());
        if (y + letters / 2 > free) continue;
        drawText(draw, {low.x - 2 * length - widthOf(tick), y - letters / 2}, colour,
                 withDecimalSign(tick.label));
        free = y - letters / 2;
    }
}

/// The colours from the worst loss to the best, in the middle of a line of text.
void drawLossBar(ImVec2 corner, float width) {
    constexpr int steps = 24;
    const float height = ImGui::GetFontSize();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    for (int i = 0; i < steps; ++i) {
        const float share = static_cast<float>(i) / steps;
        draw.AddRectFilled({corner.x + share * width, corner.y + 0.25f * height},
                           {corner.x + (share + 1.0f / steps) * width, corner.y + 0.75f * height},
                           viridis(share));
    }
}

AxisRoom axisRoom(const MosaicPanel& panel, AxisNames names) {
    const float gap = 2 * panel.ui.px(markUnits);
    const float line = ImGui::GetTextLineHeight();
    float widest = 0;
    for (const AxisTick& tick : panel.spec.y.ticks(panel.spec.rows)) widest = std::max(widest, widthOf(tick));
    return {widest + gap, names == AxisNames::none ? 0 : line + gap,
            (names == AxisNames::below ? 2 * line : line) + gap};
}

/// As large as it can be within `room` pixels from `start`, in their middle. Its axes have nothing to do with
/// each other, so tiles need not be square.
MosaicPlace placeMosaic(const MosaicPanel& panel, ImVec2 start, ImVec2 room, bool names) {
    const auto columns = static_cast<float>(panel.spec.columns);
    const auto rows = static_cast<float>(panel.spec.rows);
    const auto place = [&](AxisNames where) {
        const AxisRoom margin = axisRoom(panel, where);
        ImVec2 tile{std::max(0.5f, (room.x - margin.left) / columns),
                    std::max(0.5f, (room.y - margin.above - margin.below) / rows)};
        tile = {std::min(tile.x, longest * tile.y), std::min(tile.y, longest * tile.x)};
        const ImVec2 extent{tile.x * columns, tile.y * rows};
        const ImVec2 spare{std::max(0.0f, room.x - margin.left - extent.x) / 2,
                           std::max(0.0f, room.y - margin.above - margin.below - extent.y) / 2};
        const ImVec2 low{start.x + margin.left + spare.x, start.y + margin.above + spare.y};
        return MosaicPlace{low, {low.x + extent.x, low.y + extent.y}, tile, start.x + room.x, where, margin};
    };
    if (!names) return place(AxisNames::none);
    const MosaicPlace first = place(AxisNames::beside);
    const std::vector<AxisTick> ticks = panel.spec.x.ticks(panel.spec.columns);
    if (ticks.empty()) return first;
    const float end = first.low.x + static_cast<float>(ticks.back().place) * first.tile.x +
                      widthOf(ticks.back()) / 2 + 2 * panel.ui.px(markUnits);
    const float name = textWidth(hyperparameterLabel(panel.spec.x.parameter));
    return end + name <= first.right ? first : place(AxisNames::below);
}

/// `strength` 0: the tiles are sorted, and have no axes.
void drawMosaicAxes(const MosaicPanel& panel, const MosaicPlace& place, float strength) {
    const Ui& ui = panel.ui;
    const auto& [low, high, tile, right, names, room] = place;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImU32 colour = faded(ui.theme.muted, strength);
    if (strength > 0) drawMarks(ui, panel.spec, place, colour);
    if (strength > 0 && names != AxisNames::none) {
        const std::string x = hyperparameterLabel(panel.spec.x.parameter);
        const std::string y = hyperparameterLabel(panel.spec.y.parameter);
        drawText(draw, {low.x - room.left, low.y - room.above}, colour, y);
        drawText(draw, {right - textWidth(x), high.y + room.below - ImGui::GetTextLineHeight()}, colour, x);
    }
    if (strength < 1)
        drawText(draw, {low.x, high.y + 2 * ui.px(markUnits)}, faded(ui.theme.muted, 1 - strength),
                 "best first, row by row");
}

/// Lines along the axes, where the best networks lie once all have been trained.
void drawBestRanges(const MosaicPanel& panel, const MosaicSide& side, const MosaicPlace& place) {
    if (!panel.model.over() || !side.shot || !side.failure.empty()) return;
    const Ui& ui = panel.ui;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float thick = ui.px(3);
    const ImU32 colour = faded(ui.theme.good, panel.view.marks);
    const auto [x, y] = bestRanges(panel.spec, *side.shot);
    if (x)
        draw.AddRectFilled(
            {place.low.x + static_cast<float>(x->first) * place.tile.x, place.high.y},
            {place.low.x + static_cast<float>(x->last + 1) * place.tile.x, place.high.y + thick}, colour);
    if (y)
        draw.AddRectFilled(
            {place.low.x - thick, place.high.y - static_cast<float>(y->last + 1) * place.tile.y},
            {place.low.x, place.high.y - static_cast<float>(y->first) * place.tile.y}, colour);
}

/// The colours of losses with their ends.
struct LossLegend {
    std::string worst;
    std::string best;
    float gap = 0;
    float bar = 0;
    float width = 0; ///< of all of it; 0 before there are losses
};

LossLegend lossLegend(const MosaicPanel& panel) {
    const LossScale& scale = panel.pictures.scale();
    if (scale.empty()) return {};
    LossLegend legend{translatedFormat("loss {}", threeDigits(scale.worst)), threeDigits(scale.best),
                      panel.ui.px(5), panel.ui.px(56)};
    legend.width = textWidth(legend.worst) + textWidth(legend.best) + legend.bar + 2 * legend.gap;
    return legend;
}

/// Right-aligned at `right`; nothing where `room` is less than its width.
void drawLossLegend(const Ui& ui, const LossLegend& legend, ImVec2 right, float room) {
    if (legend.width == 0 || legend.width > room) return;
    const float best = right.x - textWidth(legend.best);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddText({right.x - legend.width, right.y}, ui.theme.muted, legend.worst.c_str());
    draw.AddText({best, right.y}, ui.theme.muted, legend.best.c_str());
    drawLossBar({best - legend.gap - legend.bar, right.y}, legend.bar);
}

void drawTitle(const MosaicPanel& panel, const MosaicSide& side) {
    Ui& ui = panel.ui;
    const float line = ImGui::GetTextLineHeight();
    const ImVec2 start = ImGui::GetCursorScreenPos();
    drawLaneMark(*ImGui::GetWindowDrawList(), side.spec, {start.x + line / 2, start.y + line / 2},
                 line * 0.8f, ui.colour(side.spec));
    ImGui::SetCursorScreenPos({start.x + line + ui.px(6), start.y});
    ui.heading(side.spec.gpu ? "GPU" : "CPU");
    ImGui::SameLine(0, ui.px(8));
    const float room = ImGui::GetContentRegionAvail().x;
    const bool ready = !side.machine.device.empty();
    const char* const waiting = side.spec.gpu ? "compiling kernels for these networks" : "preparing";
    const std::string device = ui.masked ? "-" : ready ? honestDevice(side.machine) : waiting;
    const ImU32 colour = ui.deviceColour(side.machine.software);
    ui.text(fittedText(device, room), colour);
}

void drawShareDone(const Ui& ui, const MosaicSide& side, double share) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const float height = ui.px(5);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRectFilled(low, {low.x + width, low.y + height}, ui.theme.background, height / 2);
    const float done = width * static_cast<float>(share);
    if (done >= height)
        draw.AddRectFilled(low, {low.x + done, low.y + height}, ui.colour(side.spec), height / 2);
    ImGui::Dummy({width, height});
}

float markLegendWidth(const Ui& ui) {
    return textWidth("best") + textWidth("selected") + textWidth("diverged") +
           3 * (std::round(0.6f * ImGui::GetFontSize()) + ui.px(18)) - ui.px(12);
}

/// What frames and crosses mean, right-aligned at `right`.
void drawMarkLegend(const Ui& ui, ImVec2 right) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float line = ImGui::GetFontSize();
    const float square = std::round(0.6f * line);
    const float gap = ui.px(6);
    const auto entry = [&](const char* text, const auto& drawSign) {
        const float left = right.x - textWidth(text) - square - gap;
        drawSign(ImVec2{left, right.y + (line - square) / 2});
        drawText(draw, {left + square + gap, right.y}, ui.theme.muted, text);
        right.x = left - 2 * gap;
    };
    entry("best", [&](ImVec2 low) { drawTileFrame(ui, draw, low, {square, square}, ui.theme.good); });
    entry("selected", [&](ImVec2 low) { drawTileFrame(ui, draw, low, {square, square}, ui.theme.text); });
    entry("diverged", [&](ImVec2 low) { drawDiverged(ui, draw, low, {square, square}); });
}

/// The legend of the tiles' colours: none where they show predictions, for then the map of losses has it.
LossLegend tileLegend(const MosaicPanel& panel) {
    return panel.view.planes ? LossLegend{} : lossLegend(panel);
}

float gapBetweenLegends(const Ui& ui, const LossLegend& losses) { return losses.width > 0 ? ui.px(18) : 0; }

/// How far a side is. In a preview, all networks of a graphics card have made some steps, a few of a
/// processor's all of them.
std::string progressText(const MosaicPanel& panel, const MosaicSide& side, const PopulationSummary& summary) {
    if (panel.model.previewed()) {
        if (summary.begun == 0) return {};
        if (side.spec.gpu)
            return translatedFormat("preview: {} of {} steps", grouped(side.leastSteps()),
                                    grouped(panel.spec.steps));
        return translatedFormat("preview: {} of {} networks", grouped(summary.finished),
                                grouped(panel.spec.size()));
    }
    if (summary.begun == 0 && !panel.model.running()) return "";
    return translatedFormat("{} finished", grouped(summary.finished));
}

/// One line: the rate, large because it is what is compared, what it is of, and how many are finished.
void drawCounters(const MosaicPanel& panel, const MosaicSide& side) {
    Ui& ui = panel.ui;
    const PopulationSummary summary = side.shot ? side.shot->summary : PopulationSummary{};
    const std::string rate =
        summary.networkSteps > 0 ? ui.timing(shortRate(side.networkStepsPerSecond())) : "-";
    const std::string steps = shortRate(static_cast<double>(summary.networkSteps));
    const std::string time = ui.timing(duration(side.shot ? side.shot->seconds : 0));
    const std::string finished = progressText(panel, side, summary);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float room = ImGui::GetContentRegionAvail().x;
    const float large = ui.fonts.title->FontSize;
    const float lower = start.y + 0.8f * (large - ImGui::GetFontSize());
    const float gap = ui.px(6);
    const float after = start.x + ui.fonts.title->CalcTextSizeA(large, FLT_MAX, 0, rate.c_str()).x + gap;
    const float right = start.x + room - textWidth(finished);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddText(ui.fonts.title, large, start, ui.theme.text, rate.c_str());
    const std::string unit(translated("steps/s"));
    for (const std::string& rest :
         {translatedFormat("steps/s, {} in {}", steps, time), translatedFormat("steps/s, {}", steps), unit}) {
        const bool some = summary.networkSteps > 0 || rest == unit;
        if (!some || after + textWidth(rest) + 2 * gap > right) continue; // half a number is another one
        draw.AddText({after, lower}, ui.theme.muted, rest.c_str());
        break;
    }
    if (right > after) draw.AddText({right, lower}, ui.theme.text, finished.c_str());
    ImGui::Dummy({room, large});
    ui.explainItem(
        {.title = "Progress",
         .values = {{"steps", grouped(summary.networkSteps)},
                    {"finished",
                     translatedFormat("{} of {}", grouped(summary.finished), grouped(panel.spec.size()))},
                    {"of those, diverged", grouped(summary.diverged)}},
         .text = "Training steps of all networks together, and the time that this machine took for "
                 "them. The rate is their quotient."});
}

void drawMosaic(const MosaicPanel& panel, std::size_t index) {
    const SmallLetters small(panel.ui);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const MosaicPlace place = placeMosaic(panel, start, ImGui::GetContentRegionAvail(), true);
    if (!panel.pictures.has(index))
        ImGui::GetWindowDrawList()->AddRect(place.low, place.high, panel.ui.theme.grid, 0, 0,
                                            panel.ui.line());
    drawTiles(panel, index, place.low, place.tile);
    drawMosaicAxes(panel, place, panel.view.marks);
    drawBestRanges(panel, panel.sides[index], place);
}

void drawLosses(const MosaicPanel& panel) {
    const Ui& ui = panel.ui;
    const SmallLetters small(ui);
    const MosaicSide* side = shownSide(panel);
    if (ImGui::GetContentRegionAvail().y > ui.px(170)) {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float width = ImGui::GetContentRegionAvail().x;
        drawLossLegend(ui, lossLegend(panel), {at.x + width, at.y}, width);
        ImGui::Dummy({width, ImGui::GetTextLineHeight()});
    }
    const MosaicPlace place =
        placeMosaic(panel, ImGui::GetCursorScreenPos(), ImGui::GetContentRegionAvail(), false);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    if (side != nullptr && side->shot && panel.pictures.has(shownIndex(panel)))
        draw.AddImage(panel.pictures.losses(shownIndex(panel)), place.low, place.high);
    draw.AddRect(place.low, place.high, ui.theme.border, 0, 0, ui.line());
    drawMosaicAxes(panel, place, 1);
}

} // namespace

float mosaicLegendWidth(const MosaicPanel& panel) {
    const SmallLetters small(panel.ui);
    const LossLegend losses = tileLegend(panel);
    return losses.width + gapBetweenLegends(panel.ui, losses) + markLegendWidth(panel.ui);
}

void drawMosaicLegend(const MosaicPanel& panel, ImVec2 right) {
    const SmallLetters small(panel.ui);
    const LossLegend losses = tileLegend(panel);
    drawMarkLegend(panel.ui, right);
    right.x -= markLegendWidth(panel.ui) + gapBetweenLegends(panel.ui, losses);
    drawLossLegend(panel.ui, losses, right, losses.width);
}

void drawMosaicLegendRow(const MosaicPanel& panel) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float room = ImGui::GetContentRegionAvail().x;
    const SmallLetters small(panel.ui);
    const float line = ImGui::GetTextLineHeight();
    if (const float width = mosaicLegendWidth(panel); width <= room) {
        drawMosaicLegend(panel, {at.x + width, at.y});
        ImGui::Dummy({room, line});
        return;
    }
    // Colours above signs; of those, what the window holds.
    const LossLegend losses = tileLegend(panel);
    drawLossLegend(panel.ui, losses, {at.x + losses.width, at.y}, room);
    const float next = losses.width > 0 ? line + panel.ui.px(2) : 0;
    drawMarkLegend(panel.ui, {at.x + std::min(markLegendWidth(panel.ui), room), at.y + next});
    ImGui::Dummy({room, next + line});
}

void drawMosaicSide(const MosaicPanel& panel, std::size_t index, ImVec2 size) {
    const MosaicSide& side = panel.sides[index];
    panel.ui.beginCard(side.spec.gpu ? "mosaic/GPU" : "mosaic/CPU", size, panel.ui.surface(side.spec));
    drawTitle(panel, side);
    if (side.failure.empty())
        drawShareDone(panel.ui, side, side.shareDone(panel.spec.steps));
    else if (side.shot)
        panel.ui.text(fittedText(translatedFormat("Ended: {}", translatedParts(side.failure)),
                                 ImGui::GetContentRegionAvail().x),
                      panel.ui.theme.bad);
    drawCounters(panel, side);
    if (!side.failure.empty() && !side.shot)
        panel.ui.paragraph(translatedParts(side.failure), panel.ui.theme.bad);
    else
        drawMosaic(panel, index);
    panel.ui.endCard();
}

void drawLossMap(const MosaicPanel& panel, ImVec2 size) {
    Ui& ui = panel.ui;
    ui.beginCard("mosaic/losses", size);
    ui.heading("Loss");
    drawLosses(panel);
    ui.endCard();
}

} // namespace lockstep::demos
