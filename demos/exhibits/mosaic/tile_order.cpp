#include "demos/exhibits/mosaic/tile_order.h"

#include <cmath>
#include <numeric>

namespace lockstep::demos {

namespace {

constexpr double restlessness = 7; // of a tile: the share of its way that it makes, per second
constexpr float nearEnough = 0.02f;

} // namespace

TilePlace TileOrder::placeOf(std::size_t index) const {
    return {static_cast<float>(index % columns_), static_cast<float>(index / columns_)};
}

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

} // namespace lockstep::demos
