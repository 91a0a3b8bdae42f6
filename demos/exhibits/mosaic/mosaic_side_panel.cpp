// One side of the mosaic on the screen: its machine, what it has done so far, its tiles.
#include <algorithm>
#include <array>

#include "demos/draw/lane_mark.h"
#include "demos/exhibits/mosaic/mosaic_view.h"
#include "demos/exhibits/mosaic/mosaic_words.h"
#include "demos/words/text.h"

namespace lockstep::demos {

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
    const std::string device = ui.masked ? "-" : ready ? honestDevice(side.machine) : "getting ready";
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
