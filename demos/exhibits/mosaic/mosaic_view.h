// What the mosaic's panels share: how a person looks at it, what moves by itself, and its pictures.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "demos/draw/picture.h"
#include "demos/draw/plot.h"
#include "demos/draw/ui.h"
#include "demos/exhibits/mosaic/mosaic_model.h"

namespace lockstep::demos {

/// In tiles, from the upper left corner.
struct TilePlace {
    float column = 0;
    float row = 0;
};

class TileOrder {
  public:
    /// Member k goes to place k, or, with a ranking, its n-th member to place n. Places are counted row by
    /// row.
    void aim(std::size_t columns, std::size_t members, std::span<const std::uint32_t> ranking);
    /// Moves the tiles; `atOnce`: all the way.
    void update(double seconds, bool atOnce);

    bool moving() const { return moving_; }
    TilePlace place(std::size_t member) const { return places_[member]; }
    /// The member whose place that is, once all have arrived; nothing outside of the mosaic.
    std::optional<std::size_t> memberAt(float column, float row) const;

  private:
    TilePlace placeOf(std::size_t index) const {
        return {static_cast<float>(index % columns_), static_cast<float>(index / columns_)};
    }

    std::size_t columns_ = 1;
    std::vector<std::uint32_t> order_; ///< member at each place
    std::vector<TilePlace> places_;    ///< of each member, now
    bool moving_ = false;
};

/// One network of one side.
struct TileChoice {
    std::size_t side = 0;
    std::size_t member = 0;
};

class MosaicPictures {
  public:
    /// Before the model's update: pictures of sides that are gone go first.
    void beginFrame(const MosaicModel& model) {
        if (model.sides().empty()) sides_.clear();
    }
    /// After it: shows what is new.
    void update(Ui& ui, const MosaicModel& model);
    void release() { *this = {}; }

    /// The scale for the losses of all sides, as they were at the last update.
    const LossScale& scale() const { return scale_; }

    /// Whether there are tiles of that side, so that those below may be asked for.
    bool has(std::size_t side) const { return side < sides_.size() && sides_[side].maps; }
    void drawTile(ImDrawList& draw, const PopulationSpec& spec, TileChoice tile, ImVec2 low,
                  ImVec2 high) const;
    /// A pixel per network, in their places.
    ImTextureID losses(std::size_t side) const { return sides_[side].losses->id(); }

  private:
    struct SidePictures {
        std::unique_ptr<Picture> maps;
        std::unique_ptr<Picture> losses;
    };
    void showLosses(Ui& ui, const MosaicModel& model, std::size_t side);

    std::vector<SidePictures> sides_;
    LossScale scale_;
};

/// What a person has chosen to see.
struct MosaicChoice {
    std::size_t page = 0; ///< where there is room for one panel only
    std::size_t side = 0; ///< of which the summary is
    std::size_t rank = 0; ///< of the network that is shown by itself: 0 is the best
    bool sorted = false;
    bool settingsShown = false;
};

struct MosaicView : MosaicChoice {
    static constexpr std::size_t mostSides = 2;
    static constexpr float landed = 3; ///< a flight is over

    std::array<TileOrder, mostSides> order;
    float marks = 1;       ///< of the axes: they fade while tiles are sorted
    float flight = landed; ///< of the best network: 0 at its place, 1 where it flies to and stays a while
    bool over = false;     ///< all networks had been trained

    // Where things were in the last frame.
    std::array<ImVec2, mostSides> corner{}; ///< of the mosaic, on the screen
    std::array<ImVec2, mostSides> tile{};   ///< its size in pixels
    bool planes = true;                     ///< tiles were large enough to show predictions
    ImVec2 cardCorner{};                    ///< of the network that is shown by itself
    float cardTile = 0;
    std::optional<TileChoice> hovered;
};

/// What every panel is handed.
struct MosaicPanel {
    Ui& ui;
    MosaicModel& model;
    MosaicView& view;
    const MosaicPictures& pictures;
    const PopulationSpec& spec = model.spec();
    std::span<const MosaicSide> sides = model.sides();
};

// The panels, each in a file of its own.
/// The way to the settings, what they are, and the legend, in a row above the mosaics.
void drawMosaicBar(const MosaicPanel& panel);
/// What the tiles' colours, frames and crosses mean, the same on both sides: how wide it is, in one line
/// ending at `right`, and in a row of its own.
float mosaicLegendWidth(const MosaicPanel& panel);
void drawMosaicLegend(const MosaicPanel& panel, ImVec2 right);
void drawMosaicLegendRow(const MosaicPanel& panel);
/// `everything`: all fields, rather than a button that opens those of second rank. Returns the settings as a
/// person wants them now: whether they make sense, the model says, once nothing is half drawn.
MosaicSettings drawMosaicSettings(const MosaicPanel& panel, bool everything);
/// One side: its machine, what it has done, its tiles with both axes.
void drawMosaicSide(const MosaicPanel& panel, std::size_t side, ImVec2 size);
void drawTiles(const MosaicPanel& panel, std::size_t side, ImVec2 low, ImVec2 tile);
/// The one under the mouse, enlarged, with its numbers; over everything else.
void drawHoveredTile(const MosaicPanel& panel);
/// The losses of the side that is shown by itself, a pixel per network.
void drawLossMap(const MosaicPanel& panel, ImVec2 size);
void drawLossSpread(const MosaicPanel& panel, Plot& plot, ImVec2 size);
/// The network of the chosen rank, large, with its numbers.
void drawNetworkCard(const MosaicPanel& panel, ImVec2 size);

/// The best network on its way from its place to its card, or, where that is not to be seen, to a place of
/// its own, where it `rests` for a moment.
void drawFlight(const MosaicPanel& panel, ImVec2 corner, float tile, bool rests = false);

/// The side that the summary is of: its place among all, and the side itself; null before the first update.
std::size_t shownIndex(const MosaicPanel& panel);
const MosaicSide* shownSide(const MosaicPanel& panel);
/// The member of the rank that is shown by itself; nothing before the first loss.
std::optional<std::size_t> shownMember(const MosaicPanel& panel);
/// What a network predicts over the plane; where it diverged, a cross on black.
void drawPlane(const MosaicPanel& panel, ImDrawList& draw, TileChoice tile, ImVec2 low, ImVec2 size);
/// The marks of tiles, in the mosaic and in its legend: a frame around one, a cross on black.
void drawTileFrame(const Ui& ui, ImDrawList& draw, ImVec2 low, ImVec2 size, ImU32 colour);
void drawDiverged(const Ui& ui, ImDrawList& draw, ImVec2 low, ImVec2 size);
/// What a click on the network does, to be said before.
std::string openingText(const MemberResult& result);

} // namespace lockstep::demos
