// What moves and what is shown of a mosaic: the order of its tiles, its pictures, and what the mouse does to
// them.
#include "demos/exhibits/mosaic/mosaic_view.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr double restlessness = 7; // of a tile: the share of its way that it makes, per second
constexpr float nearEnough = 0.02f;
constexpr float veil = 0.72f;     // over networks that have not begun while others have
constexpr float leastPlane = 24;  // units of a tile that shows predictions; a smaller one shows its loss
constexpr float smallestMark = 5; // pixels of a tile that a cross can be seen in
constexpr float lensUnits = 176;  // of the enlarged tile

// A projector's pixels are large: twice the letters do not ask for twice the tiles.
bool showsPlanes(const Ui& ui, ImVec2 tile) {
    return std::min(tile.x, tile.y) >= (ui.presenter ? leastPlane : ui.px(leastPlane));
}

/// Rounded, so that neighbours meet.
Place placeAt(ImVec2 low, ImVec2 size) {
    return {{std::round(low.x), std::round(low.y)}, {std::round(low.x + size.x), std::round(low.y + size.y)}};
}

void explain(const MosaicPanel& panel, TileChoice tile) {
    const MosaicSide& side = panel.sides[tile.side];
    const MemberResult& result = side.shot->results[tile.member];
    panel.ui.detail(
        {.title = translatedFormat("Network {}, {}", tile.member + 1, translated(sideName(side))),
         .values = memberValues(panel.spec, tile.member, result),
         .text = memberState(panel.spec, result).append(translated(" A click shows it by itself."))});
}

void drawNetworkTile(const MosaicPanel& panel, ImDrawList& draw, TileChoice tile, ImVec2 low, ImVec2 size) {
    const Ui& ui = panel.ui;
    const MosaicSide& side = panel.sides[tile.side];
    const MemberResult result = side.shot ? side.shot->results[tile.member] : MemberResult{};
    const auto [from, to] = placeAt(low, size);
    if (panel.view.planes)
        drawPlane(panel, draw, tile, low, {size.x - ui.line(), size.y - ui.line()}); // a gap to the next one
    else if (result.diverged)
        drawDiverged(ui, draw, low, size);
    else
        draw.AddRectFilled(from, to, lossColour(ui.theme, panel.pictures.scale(), result));
    const bool waits = result.steps == 0 && side.shot && side.shot->summary.begun > 0;
    if (waits) draw.AddRectFilled(from, to, faded(ui.theme.panel, veil));
}

/// Around the best network, and the one that is shown by itself.
void drawFrames(const MosaicPanel& panel, std::size_t side, ImVec2 low, ImVec2 tile) {
    const std::optional<MosaicShot>& shot = panel.sides[side].shot;
    if (!shot || shot->summary.begun == 0) return;
    const Ui& ui = panel.ui;
    const auto frame = [&](std::size_t member, ImU32 colour) {
        const TilePlace at = panel.view.order[side].place(member);
        const float gap = panel.view.planes ? ui.line() : 0;
        drawTileFrame(ui, *ImGui::GetWindowDrawList(), {low.x + at.column * tile.x, low.y + at.row * tile.y},
                      {tile.x - gap, tile.y - gap}, colour);
    };
    if (const auto shown = shownMember(panel); shown && shownIndex(panel) == side)
        frame(*shown, ui.theme.text);
    const std::size_t best = shot->summary.ranking.front();
    if (std::isfinite(shot->results[best].loss)) frame(best, ui.theme.good);
}

bool begun(const MosaicPanel& panel, std::size_t side) {
    const std::optional<MosaicShot>& shot = panel.sides[side].shot;
    return shot && shot->summary.begun > 0;
}

/// A mosaic without results: where its tiles will be, and what brings them.
void drawUntrained(const MosaicPanel& panel, ImVec2 low, ImVec2 tile) {
    const Ui& ui = panel.ui;
    const ImVec2 high{low.x + tile.x * static_cast<float>(panel.spec.columns),
                      low.y + tile.y * static_cast<float>(panel.spec.rows)};
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRectFilled(low, high, ui.theme.panel);
    if (std::min(tile.x, tile.y) >= 4) { // closer lines would be a grey
        for (std::size_t i = 1; i < panel.spec.columns; ++i) {
            const float x = std::round(low.x + tile.x * static_cast<float>(i));
            draw.AddLine({x, low.y}, {x, high.y}, ui.theme.grid, 1);
        }
        for (std::size_t i = 1; i < panel.spec.rows; ++i) {
            const float y = std::round(low.y + tile.y * static_cast<float>(i));
            draw.AddLine({low.x, y}, {high.x, y}, ui.theme.grid, 1);
        }
    }
    draw.AddRect(low, high, ui.theme.border, 0, 0, ui.line());
    const std::string words = panel.model.running() ? std::string(translated("starting"))
                              : panel.model.previewing()
                                  ? std::string(translated("comes next"))
                                  : translatedFormat("Run trains {} networks", grouped(panel.spec.size()));
    const ImVec2 letters = ImGui::CalcTextSize(words.c_str());
    if (letters.x + ui.px(16) > high.x - low.x) return;
    const ImVec2 at{(low.x + high.x - letters.x) / 2, (low.y + high.y - letters.y) / 2};
    draw.AddRectFilled({at.x - ui.px(8), at.y - ui.px(5)},
                       {at.x + letters.x + ui.px(8), at.y + letters.y + ui.px(5)}, ui.theme.panel, ui.px(4));
    draw.AddText(at, ui.theme.text, words.c_str());
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

std::string openingText(const MemberResult& result) {
    return result.diverged
               ? "Opens it in the playground with its initial weights. Undo brings the network there back."
               : "Opens it in the playground with its weights. Undo brings the network there back.";
}

void drawDiverged(const Ui& ui, ImDrawList& draw, ImVec2 low, ImVec2 size) {
    const auto [from, to] = placeAt(low, size);
    draw.AddRectFilled(from, to, divergedColour(ui.theme));
    const float narrow = std::min(size.x, size.y);
    if (narrow < smallestMark) return;
    const ImVec2 centre{(from.x + to.x) / 2, (from.y + to.y) / 2};
    const float arm = 0.2f * narrow;
    const float thickness = std::max(1.0f, narrow / 14);
    static const ImU32 cross = makeTheme(true).bad; // the tile is dark in both themes
    for (const float way : {arm, -arm})
        draw.AddLine({centre.x - arm, centre.y - way}, {centre.x + arm, centre.y + way}, cross, thickness);
}

void drawPlane(const MosaicPanel& panel, ImDrawList& draw, TileChoice tile, ImVec2 low, ImVec2 size) {
    const MosaicSide& side = panel.sides[tile.side];
    if (side.shot && side.shot->results[tile.member].diverged) {
        drawDiverged(panel.ui, draw, low, size);
        return;
    }
    const auto [from, to] = placeAt(low, size);
    panel.pictures.drawTile(draw, panel.spec, tile, from, to);
}

// Light on dark, so that it is seen on every colour.
void drawTileFrame(const Ui& ui, ImDrawList& draw, ImVec2 low, ImVec2 size, ImU32 colour) {
    const auto [from, to] = placeAt(low, size);
    const float out = std::min(ui.line(), std::max(1.0f, std::round(std::min(size.x, size.y) / 16)));
    draw.AddRect({from.x - 2 * out, from.y - 2 * out}, {to.x + 2 * out, to.y + 2 * out}, ui.theme.background,
                 0, 0, 2 * out);
    draw.AddRect({from.x - out, from.y - out}, {to.x + out, to.y + out}, colour, 0, 0, 2 * out);
}

void drawTiles(const MosaicPanel& panel, std::size_t side, ImVec2 low, ImVec2 tile) {
    const char* const name = panel.sides[side].spec.gpu ? "mosaic/tiles GPU" : "mosaic/tiles CPU";
    MosaicView& view = panel.view;
    view.corner[side] = low;
    view.tile[side] = tile;
    view.planes = showsPlanes(panel.ui, tile);
    if (!panel.pictures.has(side)) return drawUntrained(panel, low, tile);
    const ImVec2 size{tile.x * static_cast<float>(panel.spec.columns),
                      tile.y * static_cast<float>(panel.spec.rows)};
    ImGui::SetCursorScreenPos(low);
    const bool pressed = panel.ui.tile(
        name, "Every tile is a network; its colour shows the loss. Click one to show it by itself.", size);
    if (panel.ui.hidden(name)) return;
    const TileOrder& order = view.order[side];
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    for (std::size_t member = 0; member < panel.spec.size(); ++member) {
        const TilePlace at = order.place(member);
        drawNetworkTile(panel, draw, {side, member}, {low.x + at.column * tile.x, low.y + at.row * tile.y},
                        tile);
    }
    drawFrames(panel, side, low, tile);
    if (!view.planes && !begun(panel, side)) drawUntrained(panel, low, tile);
    if (ImGui::IsItemHovered() && panel.sides[side].shot) {
        const ImVec2 mouse = ImGui::GetIO().MousePos;
        const auto member = order.memberAt((mouse.x - low.x) / tile.x, (mouse.y - low.y) / tile.y);
        if (member && panel.ui.pointerMoved() && panel.sides[side].shot->results[*member].steps > 0) {
            view.hovered = TileChoice{side, *member};
            if (panel.ui.detailPanel) explain(panel, *view.hovered);
            panel.ui.explainNothing(); // the lens says it all
        }
    }
    if (!pressed || !view.hovered || view.hovered->side != side) return;
    const std::vector<std::uint32_t>& ranking = panel.sides[side].shot->summary.ranking;
    const auto found = std::ranges::find(ranking, view.hovered->member);
    if (found == ranking.end()) return;
    view.side = side;
    view.rank = static_cast<std::size_t>(found - ranking.begin());
}

void drawHoveredTile(const MosaicPanel& panel) {
    const MosaicView& view = panel.view;
    if (!view.hovered) return;
    const Ui& ui = panel.ui;
    const auto [side, member] = *view.hovered;
    const ImVec2 tile = view.tile[side];
    const TilePlace place = view.order[side].place(member);
    const ImVec2 centre{view.corner[side].x + (place.column + 0.5f) * tile.x,
                        view.corner[side].y + (place.row + 0.5f) * tile.y};
    const MemberResult& result = panel.sides[side].shot->results[member];
    std::string words;
    for (const auto& [name, value] : memberValues(panel.spec, member, result))
        words += fmt::format("{}: {}\n", translated(name), translated(value));
    words += translated("Click to show it by itself.");
    const ImVec2 letters = ImGui::CalcTextSize(words.c_str());
    const float large = std::max(ui.px(lensUnits), letters.x);
    const float gap = ui.px(6);
    const ImVec2 size{large + 2 * gap, large + letters.y + 3 * gap};
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    // Beside the tile, so that its neighbours can be pointed at.
    const bool left = centre.x + tile.x + size.x > display.x;
    const ImVec2 low{left ? centre.x - tile.x - size.x : centre.x + tile.x,
                     std::clamp(centre.y - size.y / 2, 0.0f, std::max(0.0f, display.y - size.y))};
    const ImVec2 high{low.x + size.x, low.y + size.y};
    ImDrawList& draw = *ImGui::GetForegroundDrawList();
    draw.AddRectFilled(low, high, ui.theme.raised, ui.px(6));
    draw.AddRect(low, high, ui.theme.border, ui.px(6), 0, ui.line());
    drawPlane(panel, draw, *view.hovered, {low.x + gap, low.y + gap}, {large, large});
    draw.AddText({low.x + gap, low.y + large + 2 * gap}, ui.theme.text, words.c_str());
    drawTileFrame(ui, draw, {centre.x - tile.x / 2, centre.y - tile.y / 2}, tile, ui.theme.text);
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
    const ImVec2 first = view.tile[side];
    const ImVec2 from{view.corner[side].x + place.column * first.x,
                      view.corner[side].y + place.row * first.y};
    drawPlane(panel, *ImGui::GetForegroundDrawList(), {side, *member},
              {between(from.x, corner.x), between(from.y, corner.y)},
              {between(first.x, tile), between(first.y, tile)});
}

} // namespace lockstep::demos
