// Where a map looks, and what is known there: the plane of two hyperparameters zoomed, panned and fitted to a
// picture, and the outcomes of its pixels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "demos/options/map_options.h"
#include "engine/grid/map.h"

namespace lockstep::demos {

/// A whole number of pixels, to the right and down.
struct MapOffset {
    std::int64_t columns = 0;
    std::int64_t rows = 0;

    bool operator==(const MapOffset&) const = default;
};

/// Around a place of the window, both from 0 to 1 (across, and down from the top), which stays where it is.
/// factor   of width and height; below 1 comes closer
MapWindow zoomed(const MapWindow& window, double across, double down, double factor);

/// The window after the picture has moved by so many pixels.
MapWindow panned(const MapWindow& window, MapOffset offset, MapSize size);

/// The smallest window around the same middle that has all of `window`, with pixels as wide as they are high.
MapWindow fitted(const MapWindow& window, MapSize size);

/// Why going from one window to the next is refused: floats do not reach so far, or, closer than before, do
/// not tell neighbouring pixels apart. Empty: it is not.
std::string refusal(const MapWindow& from, const MapWindow& to, MapSize size);

/// Places that were looked at, as a browser has pages: before the present one and after it, the nearest last.
struct MapHistory {
    std::vector<MapPlace> before, after;

    bool canGoBack() const { return !before.empty(); }
    bool canGoForward() const { return !after.empty(); }
    /// Remembers a place that is being left; clears the places after it.
    void leave(const MapPlace& place);
};

/// Pixels are trained on a lattice: first every 16th of every 16th row, then what lies halfway between, down
/// to all of them. One that has not been trained shows what the lattice's coarser pixel before it does, or
/// what was seen there before, from farther away.
class OutcomeGrid {
  public:
    static constexpr std::uint32_t coarsest = 16;

    OutcomeGrid() = default;
    explicit OutcomeGrid(MapSize size);

    MapSize size() const { return size_; }
    /// Trained pixels.
    std::size_t known() const { return known_; }
    bool complete() const { return known_ == size_.pixels(); }

    /// Indices (row * width + column) of what has not been trained, in the order to train it.
    std::vector<std::uint32_t> missing() const;
    /// An outcome of the network there. A second one changes nothing but the number.
    void set(std::uint32_t index, MapOutcome outcome);
    bool trained(std::uint32_t index) const { return fineness_[index] == exact; }
    /// How the network there ended; NaN where it has not been trained.
    MapOutcome outcome(std::uint32_t index) const { return trained(index) ? shown_[index] : unknown; }
    /// What is to be seen there, of that network or one nearby: NaN for nothing.
    MapOutcome shown(std::uint32_t index) const { return shown_[index]; }
    std::span<const MapOutcome> shown() const { return shown_; } ///< row by row from the top

    /// The picture moves; what stays inside stays trained.
    void pan(MapOffset offset);
    /// Another window or size: nothing is trained, and what was seen is seen on, scaled.
    void look(const MapWindow& from, const MapWindow& to, MapSize size);

    /// Rows that show something else since the last call, by number.
    std::vector<std::uint32_t> takeChangedRows();
    bool changed() const { return std::ranges::find(changedRows_, true) != changedRows_.end(); }

  private:
    static constexpr MapOutcome unknown = std::numeric_limits<MapOutcome>::quiet_NaN();
    // How coarse that is what a pixel shows: a block's side, or one of these.
    static constexpr std::uint8_t exact = 0;
    static constexpr std::uint8_t before = 254;
    static constexpr std::uint8_t nothing = 255;

    std::uint32_t block(std::uint32_t column, std::uint32_t row) const;
    void paint(std::uint32_t column, std::uint32_t row, std::uint32_t side, MapOutcome outcome);

    MapSize size_;
    MapOffset origin_; // of the lattice's pixels: what the picture has been panned by
    std::vector<MapOutcome> shown_;
    std::vector<std::uint8_t> fineness_;
    std::vector<bool> changedRows_;
    std::size_t known_ = 0;
};

/// A picture in two numbers.
struct MapSurvey {
    double divergedShare = 0; ///< of its networks
    /// How often a row or a column passes from networks that converged to such that diverged, or back, on the
    /// average of all. A border that is a smooth line has one passage in most of them at most.
    double crossings = 0;
};
/// Surveys a grid that is complete.
MapSurvey surveyOf(const OutcomeGrid& grid);

} // namespace lockstep::demos
