// What moves and what is shown of a mosaic: the order of its tiles, its pictures, and what the mouse does to
// them.
#include "demos/exhibits/mosaic/mosaic_view.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace lockstep::demos {

namespace {

constexpr double restlessness = 7; // of a tile: the share of its way that it makes, per second
constexpr float nearEnough = 0.02f;
constexpr float frameShare = 0.09f; // of a tile
constexpr float veil = 0.72f;       // over networks that have not begun while others have
constexpr float smallestFrame = 6;  // pixels of a tile that has a frame on all sides
constexpr float smallestMark = 5;   // pixels of a tile that a cross can be seen in

void drawCross(ImDrawList& draw, ImVec2 low, ImVec2 high, ImU32 colour, float thickness) {
    const float in = 0.3f * (high.x - low.x);
    draw.AddLine({low.x + in, low.y + in}, {high.x - in, high.y - in}, colour, thickness);
    draw.AddLine({low.x + in, high.y - in}, {high.x - in, low.y + in}, colour, thickness);
}

void explain(const MosaicPanel& panel, TileChoice tile) {
    const MosaicSide& side = panel.sides[tile.side];
    const MemberResult& result = side.shot->results[tile.member];
    const char* const invitation = result.diverged
                                       ? " Click to open it in the playground, with its initial weights."
                                       : " Click to open it in the playground.";
    panel.ui.detail({.title = fmt::format("Network {}, {}", tile.member + 1, sideName(side)),
                     .values = memberValues(panel.spec, tile.member, result),
                     .text = memberState(panel.spec, result) + invitation});
}

} // namespace

void TileOrder::aim(std::size_t columns, std::size_t members, std::span<const std::uint32_t> ranking) {
    const bool other = columns != columns_ || members != places_.size();
    columns_ = columns;
    order_.assign(ranking.begin(), ranking.end());
    if (order_.size() != members) {
        order_.resize(members);
        std::iota(order_.begin(), order_.end(), 0u);
    }
    moving_ = true;
    if (!other) return;
    places_.resize(members);
    for (std::size_t i = 0; i < members; ++i) places_[order_[i]] = placeOf(i);
}

void TileOrder::update(double seconds, bool atOnce) {
    if (!moving_) return;
    const float share = atOnce ? 1.0f : static_cast<float>(1 - std::exp(-restlessness * seconds));
    moving_ = false;
    for (std::size_t i = 0; i < order_.size(); ++i) {
        const TilePlace aim = placeOf(i);
        TilePlace& at = places_[order_[i]];
        at = {at.column + share * (aim.column - at.column), at.row + share * (aim.row - at.row)};
        if (std::abs(at.column - aim.column) + std::abs(at.row - aim.row) < nearEnough)
            at = aim;
        else
            moving_ = true;
    }
}

std::optional<std::size_t> TileOrder::memberAt(float column, float row) const {
    if (column < 0 || row < 0 || column >= static_cast<float>(columns_)) return std::nullopt;
    const std::size_t index = static_cast<std::size_t>(row) * columns_ + static_cast<std::size_t>(column);
    if (index >= order_.size()) return std::nullopt;
    return order_[index];
}

void MosaicPictures::update(Ui& ui, const MosaicModel& model) {
    sides_.resize(model.sides().size());
    const LossScale scale = model.scale();
    const bool rescaled = std::exchange(scale_, scale) != scale;
    for (std::size_t i = 0; i < sides_.size(); ++i) {
        const MosaicSide& side = model.sides()[i];
        if (side.maps) {
            const MosaicMaps& maps = *side.maps;
            std::unique_ptr<Picture>& picture = sides_[i].maps;
            if (!picture) picture = std::make_unique<Picture>(ui.graphics, maps.width, maps.height, true);
            if (maps.device)
                picture->show(maps.device->view, maps.device->ready);
            else
                picture->upload(maps.words);
        }
        if (side.shot && (side.maps || (rescaled && sides_[i].losses))) showLosses(ui, model, i);
    }
}

void MosaicPictures::showLosses(Ui& ui, const MosaicModel& model, std::size_t side) {
    const PopulationSpec& spec = model.spec();
    std::vector<std::uint32_t> pixels;
    for (const MemberResult& result : model.sides()[side].shot->results)
        pixels.push_back(lossColour(ui.theme, scale_, result));
    std::unique_ptr<Picture>& picture = sides_[side].losses;
    if (!picture)
        picture = std::make_unique<Picture>(ui.graphics, static_cast<std::uint32_t>(spec.columns),
                                            static_cast<std::uint32_t>(spec.rows), false);
    picture->upload(pixels);
}

void MosaicPictures::drawTile(ImDrawList& draw, const PopulationSpec& spec, TileChoice tile, ImVec2 low,
                              ImVec2 high) const {
    const Picture& maps = *sides_[tile.side].maps;
    const auto width = static_cast<float>(maps.width());
    const auto height = static_cast<float>(maps.height());
    const float cells = width / static_cast<float>(spec.columns);
    const float x = static_cast<float>(tile.member % spec.columns) * cells;
    const float y = static_cast<float>(tile.member / spec.columns) * cells;
    // Half a pixel inside, so that smoothing does not bring in the neighbour.
    draw.AddImage(maps.id(), low, high, {(x + 0.5f) / width, (y + 0.5f) / height},
                  {(x + cells - 0.5f) / width, (y + cells - 0.5f) / height});
}

void drawTile(const MosaicPanel& panel, ImDrawList& draw, TileChoice tile, ImVec2 low, float size) {
    const Theme& theme = panel.ui.theme;
    const ImVec2 from{std::round(low.x), std::round(low.y)};
    const ImVec2 to{std::round(low.x + size), std::round(low.y + size)};
    const MosaicSide& side = panel.sides[tile.side];
    const float in = std::clamp(std::round(frameShare * size), size < 4 ? 0.0f : 1.0f, panel.ui.px(4));
    const ImVec2 innerLow{from.x + in, from.y + in};
    const float beyond = size < smallestFrame ? 0 : in; // the next tile's frame is enough
    const ImVec2 innerHigh{to.x - beyond, to.y - beyond};
    const MemberResult result = side.shot ? side.shot->results[tile.member] : MemberResult{};
    if (in > 0) draw.AddRectFilled(from, to, lossColour(theme, panel.pictures.scale(), result));
    if (result.diverged) {
        draw.AddRectFilled(from, to, divergedColour(theme));
        if (size >= smallestMark) drawCross(draw, from, to, theme.bad, std::max(1.0f, size / 14));
        return;
    }
    panel.pictures.drawTile(draw, panel.spec, tile, innerLow, innerHigh);
    const bool waits = result.steps == 0 && side.shot && side.shot->summary.begun > 0;
    if (waits) draw.AddRectFilled(from, to, faded(theme.panel, veil));
}

void drawTiles(const MosaicPanel& panel, std::size_t side, ImVec2 low, float tile) {
    const char* const name = panel.sides[side].spec.gpu ? "mosaic/tiles GPU" : "mosaic/tiles CPU";
    MosaicView& view = panel.view;
    view.corner[side] = low;
    view.tile[side] = tile;
    if (panel.ui.hidden(name) || !panel.pictures.has(side)) return;
    const ImVec2 size{tile * static_cast<float>(panel.spec.columns),
                      tile * static_cast<float>(panel.spec.rows)};
    ImGui::SetCursorScreenPos(low);
    const bool pressed = panel.ui.tile(name, size);
    const TileOrder& order = view.order[side];
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    for (std::size_t member = 0; member < panel.spec.size(); ++member) {
        const TilePlace at = order.place(member);
        drawTile(panel, draw, {side, member}, {low.x + at.column * tile, low.y + at.row * tile}, tile);
    }
    if (ImGui::IsItemHovered() && panel.sides[side].shot) {
        const ImVec2 mouse = ImGui::GetIO().MousePos;
        if (const auto member = order.memberAt((mouse.x - low.x) / tile, (mouse.y - low.y) / tile)) {
            view.hovered = TileChoice{side, *member};
            explain(panel, *view.hovered);
        }
    }
    if (!pressed) return;
    const bool byMouse = view.hovered && view.hovered->side == side;
    const auto member = byMouse ? std::optional(view.hovered->member) : shownMember(panel);
    if (member && panel.sides[side].failure.empty()) panel.model.open(side, *member);
}

void drawHoveredTile(const MosaicPanel& panel) {
    const MosaicView& view = panel.view;
    if (!view.hovered) return;
    const Ui& ui = panel.ui;
    const auto [side, member] = *view.hovered;
    const float tile = view.tile[side];
    const TilePlace place = view.order[side].place(member);
    const ImVec2 centre{view.corner[side].x + (place.column + 0.5f) * tile,
                        view.corner[side].y + (place.row + 0.5f) * tile};
    const MemberResult& result = panel.sides[side].shot->results[member];
    std::string words;
    for (const auto& [name, value] : memberValues(panel.spec, member, result))
        words += fmt::format("{}{} {}", words.empty() ? "" : "\n", name, value);
    const ImVec2 letters = ImGui::CalcTextSize(words.c_str());
    const float large = std::max(ui.px(112), letters.x);
    const float gap = ui.px(6);
    const ImVec2 size{large + 2 * gap, large + letters.y + 3 * gap};
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    // Beside the tile, so that its neighbours can be pointed at.
    const bool left = centre.x + tile + size.x > display.x;
    const ImVec2 low{left ? centre.x - tile - size.x : centre.x + tile,
                     std::clamp(centre.y - size.y / 2, 0.0f, std::max(0.0f, display.y - size.y))};
    const ImVec2 high{low.x + size.x, low.y + size.y};
    ImDrawList& draw = *ImGui::GetForegroundDrawList();
    draw.AddRectFilled(low, high, ui.theme.raised, ui.px(6));
    draw.AddRect(low, high, ui.theme.border, ui.px(6), 0, ui.line());
    drawTile(panel, draw, *view.hovered, {low.x + gap, low.y + gap}, large);
    draw.AddText({low.x + gap, low.y + large + 2 * gap}, ui.theme.text, words.c_str());
    const float half = tile / 2;
    draw.AddRect({centre.x - half, centre.y - half}, {centre.x + half, centre.y + half}, ui.theme.text, 0, 0,
                 ui.line(2));
}

void drawFlight(const MosaicPanel& panel, ImVec2 corner, float tile, bool rests) {
    const MosaicView& view = panel.view;
    const std::size_t side = shownIndex(panel);
    const std::optional<std::size_t> member = shownMember(panel);
    if (view.flight >= (rests ? MosaicView::landed : 1) || !member || !panel.pictures.has(side)) return;
    const float way = std::min(view.flight, 1.0f);
    const float share = way * way * (3 - 2 * way); // begins and ends gently
    const auto between = [share](float from, float to) { return from + share * (to - from); };
    const TilePlace place = view.order[side].place(*member);
    const float first = view.tile[side];
    const ImVec2 from{view.corner[side].x + place.column * first, view.corner[side].y + place.row * first};
    drawTile(panel, *ImGui::GetForegroundDrawList(), {side, *member},
             {between(from.x, corner.x), between(from.y, corner.y)}, between(first, tile));
}

} // namespace lockstep::demos
