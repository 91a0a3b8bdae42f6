// One side of the mosaic on the screen: its machine, what it has done so far, its tiles between both axes.
#include <algorithm>
#include <array>
#include <cmath>

#include "demos/draw/icons.h"
#include "demos/exhibits/mosaic/mosaic_view.h"
#include "demos/exhibits/mosaic/mosaic_words.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr float markUnits = 4; // of a mark's line, and between it and its value

struct Marks {
    const Ui& ui;
    ImDrawList& draw;
    ImU32 colour;
};

float widthOf(const AxisTick& tick) { return ImGui::CalcTextSize(tick.label.c_str()).x; }

void drawMarksBelow(const Marks& marks, const PopulationSpec& spec, ImVec2 low, ImVec2 high) {
    const float length = marks.ui.px(markUnits);
    const float tile = (high.x - low.x) / static_cast<float>(spec.columns);
    float free = low.x - marks.ui.px(40); // from here on nothing has been written
    for (const AxisTick& tick : spec.x.ticks(spec.columns)) {
        const float x = std::round(low.x + static_cast<float>(tick.place) * tile);
        const float half = widthOf(tick) / 2;
        marks.draw.AddLine({x, high.y}, {x, high.y + length}, marks.colour, marks.ui.line());
        if (x - half < free) continue;
        marks.draw.AddText({x - half, high.y + 2 * length}, marks.colour, tick.label.c_str());
        free = x + half + 2 * length;
    }
}

void drawMarksLeft(const Marks& marks, const PopulationSpec& spec, ImVec2 low, ImVec2 high) {
    const float length = marks.ui.px(markUnits);
    const float letters = ImGui::GetFontSize();
    const float tile = (high.y - low.y) / static_cast<float>(spec.rows);
    float free = high.y + letters / 2; // above this nothing has been written
    for (const AxisTick& tick : spec.y.ticks(spec.rows)) {
        const float y = std::round(high.y - static_cast<float>(tick.place) * tile);
        marks.draw.AddLine({low.x - length, y}, {low.x, y}, marks.colour, marks.ui.line());
        if (y + letters / 2 > free) continue;
        const float width = ImGui::CalcTextSize(tick.label.c_str()).x;
        marks.draw.AddText({low.x - 2 * length - width, y - letters / 2}, marks.colour, tick.label.c_str());
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
    const PopulationSpec& spec = panel.model.spec();
    const float gap = 2 * panel.ui.px(markUnits);
    const float line = ImGui::GetTextLineHeight();
    float widest = 0;
    for (const AxisTick& tick : spec.y.ticks(spec.rows)) widest = std::max(widest, widthOf(tick));
    return {widest + gap, names == AxisNames::none ? 0 : line + gap,
            (names == AxisNames::below ? 2 * line : line) + gap};
}

} // namespace

MosaicPlace placeMosaic(const MosaicPanel& panel, ImVec2 start, ImVec2 room, bool names) {
    const PopulationSpec& spec = panel.model.spec();
    const auto columns = static_cast<float>(spec.columns);
    const auto rows = static_cast<float>(spec.rows);
    const auto place = [&](AxisNames where) {
        const AxisRoom margin = axisRoom(panel, where);
        const float tile = std::max(
            0.5f, std::min((room.x - margin.left) / columns, (room.y - margin.above - margin.below) / rows));
        const float spare = std::max(0.0f, room.x - margin.left - tile * columns) / 2;
        const ImVec2 low{start.x + margin.left + spare, start.y + margin.above};
        return MosaicPlace{
            low, {low.x + tile * columns, low.y + tile * rows}, tile, start.x + room.x, where, margin};
    };
    if (!names) return place(AxisNames::none);
    const MosaicPlace first = place(AxisNames::beside);
    const std::vector<AxisTick> ticks = spec.x.ticks(spec.columns);
    if (ticks.empty()) return first;
    const float end = first.low.x + static_cast<float>(ticks.back().place) * first.tile +
                      widthOf(ticks.back()) / 2 + 2 * panel.ui.px(markUnits);
    const float name = ImGui::CalcTextSize(hyperparameterLabel(spec.x.parameter).c_str()).x;
    return end + name <= first.right ? first : place(AxisNames::below);
}

void drawMosaicAxes(const MosaicPanel& panel, const MosaicPlace& place, float strength) {
    const Ui& ui = panel.ui;
    const PopulationSpec& spec = panel.model.spec();
    const auto& [low, high, tile, right, names, room] = place;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImU32 colour = faded(ui.theme.muted, strength);
    if (strength > 0) {
        const Marks marks{ui, draw, colour};
        drawMarksBelow(marks, spec, low, high);
        drawMarksLeft(marks, spec, low, high);
    }
    if (strength > 0 && names != AxisNames::none) {
        const std::string x = hyperparameterLabel(spec.x.parameter);
        const std::string y = hyperparameterLabel(spec.y.parameter);
        draw.AddText({low.x - room.left, low.y - room.above}, colour, y.c_str());
        draw.AddText(
            {right - ImGui::CalcTextSize(x.c_str()).x, high.y + room.below - ImGui::GetTextLineHeight()},
            colour, x.c_str());
    }
    if (strength < 1)
        draw.AddText({low.x, high.y + 2 * ui.px(markUnits)}, faded(ui.theme.muted, 1 - strength),
                     "best first, row by row");
}

bool drawLossLegend(const MosaicPanel& panel, ImVec2 right, float room) {
    const Ui& ui = panel.ui;
    const LossScale& scale = panel.scale;
    if (scale.empty()) return true;
    const std::string worst = "loss " + threeDigits(scale.worst);
    const std::string best = threeDigits(scale.best);
    const float gap = ui.px(5);
    const float bar = ui.px(56);
    const float bestWidth = ImGui::CalcTextSize(best.c_str()).x;
    const float width = ImGui::CalcTextSize(worst.c_str()).x + bestWidth + bar + 2 * gap;
    if (width > room) return false;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddText({right.x - width, right.y}, ui.theme.muted, worst.c_str());
    draw.AddText({right.x - bestWidth, right.y}, ui.theme.muted, best.c_str());
    drawLossBar({right.x - bestWidth - gap - bar, right.y}, bar);
    return true;
}

void drawLossColumn(const MosaicPanel& panel, ImVec2 corner, float width) {
    const LossScale& scale = panel.scale;
    if (scale.empty()) return;
    const float line = ImGui::GetTextLineHeight();
    const ImU32 colour = panel.ui.theme.muted;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddText(corner, colour, "loss");
    draw.AddText({corner.x, corner.y + line}, colour, threeDigits(scale.worst).c_str());
    drawLossBar({corner.x, corner.y + 2 * line}, width);
    const std::string best = threeDigits(scale.best); // at its end of the bar
    draw.AddText({corner.x + width - ImGui::CalcTextSize(best.c_str()).x, corner.y + 3 * line}, colour,
                 best.c_str());
}

namespace {

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
    const std::string device = ui.masked ? "-" : ready ? honestDevice(side.machine) : "preparing";
    const ImU32 colour = side.machine.software ? ui.theme.warning : ui.theme.muted;
    ui.text(fittedText(device, room), colour);
}

void drawShareDone(const Ui& ui, const MosaicSide& side, double share) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const float height = ui.px(5);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRectFilled(low, {low.x + width, low.y + height}, ui.theme.raised, height / 2);
    const float done = width * static_cast<float>(share);
    if (done >= height)
        draw.AddRectFilled(low, {low.x + done, low.y + height}, ui.colour(side.spec), height / 2);
    ImGui::Dummy({width, height});
}

struct Counter {
    std::string value;
    const char* caption;
};

/// In a row above the mosaic, or in a column beside it. Where they end: the corner and width of what is
/// below.
struct Below {
    ImVec2 corner;
    float width = 0;
};
Below drawCounters(const MosaicPanel& panel, const MosaicSide& side, bool beside) {
    Ui& ui = panel.ui;
    const PopulationSpec& spec = panel.model.spec();
    const std::size_t trained = side.shot ? side.shot->summary.finished : 0;
    const std::array<Counter, 4> counters{
        // the last ones go first where there is no room
        {{grouped(trained), "finished"},
         {ui.timing(timeTaken(side.shot ? side.shot->seconds : 0)), "clock"},
         {ui.timing(shortRate(side.networksPerSecond(spec.steps))), "networks/s"},
         {ui.timing(shortRate(side.networkStepsPerSecond())), "steps/s"}}};
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float line = ImGui::GetTextLineHeight();
    float widest = 0;
    for (const Counter& counter : counters)
        widest = std::max(widest, ImGui::CalcTextSize(counter.caption).x + ui.px(8));
    const auto [room, height] = ImGui::GetContentRegionAvail();
    const std::size_t columns = beside ? 1 : counters.size() * widest <= room ? counters.size() : 2;
    const ImVec2 pace{beside ? widest : room / static_cast<float>(columns), 2 * line + ui.px(4)};
    const auto fitting = static_cast<std::size_t>(std::max(1.0f, (height + ui.px(4)) / pace.y));
    constexpr std::size_t legend = 2; // counters' room that the colours' meaning takes
    const std::size_t beyond = fitting > legend + 1 ? fitting - legend : fitting;
    const std::size_t count = beside ? std::min(beyond, counters.size()) : counters.size();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    for (std::size_t i = 0; i < count; ++i) {
        const ImVec2 corner{start.x + static_cast<float>(i % columns) * pace.x,
                            start.y + static_cast<float>(i / columns) * pace.y};
        draw.AddText(ui.fonts.strong, ImGui::GetFontSize(), corner, ui.theme.text, counters[i].value.c_str());
        draw.AddText({corner.x, corner.y + line}, ui.theme.muted, counters[i].caption);
    }
    const float used = static_cast<float>(count / columns) * pace.y;
    ImGui::Dummy({static_cast<float>(columns) * pace.x, used - ui.px(4)});
    if (beside) ImGui::SameLine(0, ui.px(12));
    return {{start.x, start.y + used + line / 2}, widest - ui.px(8)};
}

/// Whether there was room for what the colours mean.
bool drawMosaic(const MosaicPanel& panel, std::size_t index) {
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const MosaicPlace place = placeMosaic(panel, start, ImGui::GetContentRegionAvail(), true);
    if (!panel.pictures.has(index))
        ImGui::GetWindowDrawList()->AddRect(place.low, place.high, panel.ui.theme.grid, 0, 0,
                                            panel.ui.line());
    drawTiles(panel, index, place.low, place.tile);
    drawMosaicAxes(panel, place, panel.view.marks);
    const std::string name = hyperparameterLabel(panel.model.spec().y.parameter);
    const float nameEnd =
        place.low.x - place.room.left + ImGui::CalcTextSize(name.c_str()).x + panel.ui.px(12);
    return drawLossLegend(panel, {place.right, start.y}, place.right - nameEnd);
}

} // namespace

void drawMosaicSide(const MosaicPanel& panel, std::size_t index, ImVec2 size) {
    const MosaicSide& side = panel.model.sides()[index];
    panel.ui.beginCard(side.spec.gpu ? "mosaic/GPU" : "mosaic/CPU", size);
    drawTitle(panel, side);
    if (side.failure.empty())
        drawShareDone(panel.ui, side, side.shareDone(panel.model.spec().steps));
    else if (side.shot)
        panel.ui.text(fittedText("Ended: " + side.failure, ImGui::GetContentRegionAvail().x),
                      panel.ui.theme.bad);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const bool beside = room.x > 1.15f * room.y;
    const float bottom = ImGui::GetCursorScreenPos().y + room.y;
    const auto [below, width] = drawCounters(panel, side, beside);
    if (!side.failure.empty() && !side.shot)
        panel.ui.paragraph(side.failure, panel.ui.theme.bad);
    else if (!drawMosaic(panel, index) && beside && below.y + 4 * ImGui::GetTextLineHeight() <= bottom)
        drawLossColumn(panel, below, width);
    panel.ui.endCard();
}

} // namespace lockstep::demos
