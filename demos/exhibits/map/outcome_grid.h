// How the networks of a picture ended, as far as they have been trained: coarse first, then finer, and never
// a pixel twice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "demos/exhibits/map/map_window.h"
#include "demos/report/map_result.h"

namespace lockstep::demos {

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
    /// Of the network there; NaN where it has not been trained.
    MapOutcome outcome(std::uint32_t index) const;
    /// What is to be seen there, of that network or one nearby: NaN for nothing.
    MapOutcome shown(std::uint32_t index) const { return shown_[index]; }

    /// The picture moves; what stays inside stays trained.
    void pan(MapOffset offset);
    /// Another window or size: nothing is trained, and what was seen is seen on, scaled.
    void look(const MapWindow& from, const MapWindow& to, MapSize size);

    /// Rows that show something else since the last call, by number.
    std::vector<std::uint32_t> takeChangedRows();
    bool changed() const { return std::ranges::find(changedRows_, true) != changedRows_.end(); }

  private:
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

/// Of the pixels that both have trained.
MapAgreement agreementOf(const OutcomeGrid& first, const OutcomeGrid& second);

} // namespace lockstep::demos
