// Tiles of equal width side by side, as many as have room.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "demos/draw/ui.h"

namespace lockstep::demos {

struct TileColumns {
    float left = ImGui::GetCursorScreenPos().x;
    float room = ImGui::GetContentRegionAvail().x;
    float gap = 0;
    float width = 0; ///< of a tile
    std::size_t count = 1;

    /// least   units: a tile's width
    TileColumns(const Ui& ui, float least, std::size_t most) : gap(ui.px(10)) {
        share(
            std::clamp(static_cast<std::size_t>((room + gap) / (ui.px(least) + gap)), std::size_t{1}, most));
    }
    /// The room among so many.
    void share(std::size_t columns) {
        count = columns;
        width = std::floor((room + gap) / static_cast<float>(count) - gap);
    }
    float at(std::size_t column) const { return left + static_cast<float>(column) * (width + gap); }
};

} // namespace lockstep::demos
