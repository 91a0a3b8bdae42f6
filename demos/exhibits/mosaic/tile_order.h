// Where the tiles of a mosaic are: in the order of their hyperparameters or of their losses, and on the way
// from one to the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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
    TilePlace placeOf(std::size_t index) const;

    std::size_t columns_ = 1;
    std::vector<std::uint32_t> order_; ///< member at each place
    std::vector<TilePlace> places_;    ///< of each member, now
    bool moving_ = false;
};

} // namespace lockstep::demos
