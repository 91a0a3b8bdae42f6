// A batch of images as a sheet of small pictures, as many as there is room for.
#pragma once

#include <cstddef>
#include <optional>

#include <imgui.h>

#include "demos/exhibits/inside/element_sum.h"
#include "engine/net/dataset.h"
#include "engine/step/step_trace.h"

namespace lockstep::demos {

/// Pictures side by side, row by row; a gap of one pixel behind each.
struct TileGrid {
    std::size_t columns = 0; ///< of pictures; 0: there are none
    std::size_t rows = 0;
    std::size_t width = 0; ///< of a picture, in pixels
    std::size_t height = 0;

    bool operator==(const TileGrid&) const = default;
    std::size_t count() const { return columns * rows; }
    std::size_t pixelsWide() const { return columns * (width + 1); }
    std::size_t pixelsHigh() const { return rows * (height + 1); }
};

/// Whether each row of the tensor is an image.
bool holdsImages(const TracedTensor& tensor, const Dataset& data);

/// The grid that fills `size` with pictures at least `least` high, of up to `images`.
TileGrid tilesFor(const Dataset& data, std::size_t images, ImVec2 size, float least);

/// The number at a point of the sheet, given by its shares of width and height; empty beside the pictures.
std::optional<ElementAt> tiledElement(const TracedTensor& tensor, const TileGrid& tiles, float acrossShare,
                                      float downShare);

} // namespace lockstep::demos
