// The mosaic's summary: the losses over both axes, their spread over time, and one network by
// itself.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "demos/exhibits/mosaic/mosaic_view.h"
#include "demos/exhibits/mosaic/mosaic_words.h"

namespace lockstep::demos {

namespace {

const MosaicSide* shownSide(const MosaicPanel& panel) {
    const auto& sides = panel.model.sides();
    return sides.empty() ? nullptr : &sides[std::min(panel.view.side, sides.size() - 1)];
}

/// Where fewer have begun than there are ranks to choose, the last of them.
std::size_t shownRank(const MosaicPanel& panel, const MosaicSide& side) {
    return std::min(panel.view.rank, side.shot->summary.begun - 1);
}

std::size_t shownSideIndex(const MosaicPanel& panel) {
    return std::min(panel.view.side, std::max<std::size_t>(panel.model.sides().size(), 1) - 1);
}

} // namespace

std::optional<std::size_t> shownMember(const MosaicPanel& panel) {
    const MosaicSide* side = shownSide(panel);
    if (side == nullptr || !side->shot || side->shot->summary.begun == 0) return std::nullopt;
    return side->shot->summary.ranking[shownRank(panel, *side)];
}

void drawLossMap(const MosaicPanel& panel, ImVec2 size) {
    Ui& ui = panel.ui;
    ui.beginCard("mosaic/losses", size);
    ImGui::AlignTextToFramePadding();
    ui.heading("Loss");
    ImGui::SameLine();
    const char* const sort = "Sort##mosaic";
    const float button = ImGui::CalcTextSize(sort, nullptr, true).x + 2 * ImGui::GetStyle().FramePadding.x;
    ImGui::SetCursorPosX(ImGui::GetWindowContentRegionMax().x - button);
    if (ui.toggle(sort, panel.view.sorted)) panel.view.sorted = !panel.view.sorted;
    const MosaicSide* side = shownSide(panel);
    const std::size_t index = shownSideIndex(panel);
    if (ImGui::GetContentRegionAvail().y > ui.px(170)) {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float width = ImGui::GetContentRegionAvail().x;
        drawLossLegend(panel, {at.x + width, at.y}, width);
        ImGui::Dummy({width, ImGui::GetTextLineHeight()});
    }
    const MosaicPlace place =
        placeMosaic(panel, ImGui::GetCursorScreenPos(), ImGui::GetContentRegionAvail(), false);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    if (side != nullptr && side->shot && panel.pictures.has(index))
        draw.AddImage(panel.pictures.losses(index), place.low, place.high);
    draw.AddRect(place.low, place.high, ui.theme.border, 0, 0, ui.line());
    drawMosaicAxes(panel, place, 1);
    ui.endCard();
}

void drawLossSpread(const MosaicPanel& panel, Plot& plot, ImVec2 size) {
    Ui& ui = panel.ui;
    ui.beginCard("mosaic/spread", size);
    const MosaicSide* side = shownSide(panel);
    const LossSpread none;
    const LossSpread& spread = side == nullptr ? none : side->spread;
    const ImU32 colour = side == nullptr ? ui.theme.muted : ui.colour(side->spec);
    // shares: 0, 5, 25, 50, 75, 95, 100 percent
    const PlotLine lines[] = {
        {.name = "median", .colour = ui.theme.text, .x = spread.steps, .y = spread.losses[3]},
        {.name = "best", .colour = colour, .dashed = true, .x = spread.steps, .y = spread.losses[0]},
        {.name = "95 %", .colour = faded(colour, 0.7f), .x = spread.steps, .y = spread.losses[5]},
    };
    const PlotBand bands[] = {
        {faded(colour, 0.14f), spread.steps, spread.losses[0], spread.losses[6]},
        {faded(colour, 0.16f), spread.steps, spread.losses[1], spread.losses[5]},
        {faded(colour, 0.22f), spread.steps, spread.losses[2], spread.losses[4]},
    };
    PlotOptions options;
    options.x = {.title = "steps per network", .unit = "", .whole = true};
    options.y = {.title = "loss", .unit = "", .log = true};
    options.empty = "Press Run: bands hold 50, 90 and 100 % of all networks";
    options.bands = bands;
    plot.draw(ui, "mosaic losses", lines, options);
    ui.endCard();
}

namespace {

void drawNumbers(const MosaicPanel& panel, ImVec2 corner, std::size_t member, const MemberResult& result) {
    const Ui& ui = panel.ui;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    for (const auto& [name, value] : memberValues(panel.model.spec(), member, result)) {
        const float left = right - ImGui::CalcTextSize(value.c_str()).x;
        draw.AddText(corner, ui.theme.muted, fittedText(name, left - corner.x - ui.px(6)).c_str());
        draw.AddText({left, corner.y}, ui.theme.text, value.c_str());
        corner.y += ImGui::GetTextLineHeight() + ui.px(3);
    }
}

std::string titleOf(const MosaicPanel& panel, const MemberResult* shown) {
    if (shown == nullptr) return "Best network";
    const std::size_t rank = shownRank(panel, *shownSide(panel));
    return rank == 0 && std::isfinite(shown->loss) ? "Best network"
                                                   : fmt::format("Rank {} by loss", rank + 1);
}

/// What is shown, and of which side.
void drawNetworkTitle(const MosaicPanel& panel, const MemberResult* shown) {
    Ui& ui = panel.ui;
    const std::string title = titleOf(panel, shown);
    if (panel.model.sides().size() < MosaicView::mostSides) {
        ui.heading(title);
        return;
    }
    const std::string names[] = {"GPU", "CPU"};
    float width = ui.px(2);
    for (const std::string& name : names)
        width += ImGui::CalcTextSize(name.c_str()).x + 2 * ImGui::GetStyle().FramePadding.x;
    ImGui::AlignTextToFramePadding();
    ui.heading(fittedText(title, ImGui::GetContentRegionAvail().x - width - ui.px(8)));
    ImGui::SameLine();
    ImGui::SetCursorPosX(ImGui::GetWindowContentRegionMax().x - width);
    ui.segments("##mosaic/side", panel.view.side, names);
}

/// Which network is shown, by its rank, and the way to the playground.
void drawChoice(const MosaicPanel& panel, std::size_t side, std::optional<std::size_t> member) {
    Ui& ui = panel.ui;
    const char* const open = "Open in Playground##mosaic";
    const auto members = static_cast<int>(panel.model.members());
    const float gap = ui.px(8);
    const float button = ImGui::CalcTextSize(open, nullptr, true).x + 2 * ImGui::GetStyle().FramePadding.x;
    ImGui::SetNextItemWidth(std::max(ui.px(40), ImGui::GetContentRegionAvail().x - button - gap));
    int rank = static_cast<int>(panel.view.rank) + 1;
    if (ui.intSlider("##mosaic/rank", rank, 1, members))
        panel.view.rank = static_cast<std::size_t>(std::clamp(rank, 1, members)) - 1;
    ImGui::SameLine(0, gap);
    if (ui.button(open, member.has_value())) panel.model.open(side, *member);
}

} // namespace

void drawNetworkCard(const MosaicPanel& panel, ImVec2 size) {
    Ui& ui = panel.ui;
    MosaicView& view = panel.view;
    ui.beginCard("mosaic/network", size);
    const std::optional<std::size_t> member = shownMember(panel);
    const std::size_t index = shownSideIndex(panel);
    const MemberResult* const shown = member ? &panel.model.sides()[index].shot->results[*member] : nullptr;
    drawNetworkTitle(panel, shown);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float spacing = ImGui::GetStyle().ItemSpacing.y;
    const float upper = std::max(ui.px(40), room.y - ImGui::GetFrameHeight() - spacing);
    const float tile = std::min(room.x * 0.42f, upper);
    view.cardCorner = start;
    view.cardTile = tile;
    if (member && panel.pictures.has(index)) {
        drawTile(panel, *ImGui::GetWindowDrawList(), {index, *member}, start, tile);
        drawNumbers(panel, {start.x + tile + ui.px(12), start.y}, *member, *shown);
    } else {
        ImGui::GetWindowDrawList()->AddRect(start, {start.x + tile, start.y + tile}, ui.theme.border, 0, 0,
                                            ui.line());
    }
    ImGui::SetCursorScreenPos({start.x, start.y + upper + spacing});
    drawChoice(panel, index, member);
    ui.endCard();
}

} // namespace lockstep::demos
