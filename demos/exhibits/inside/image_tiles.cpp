#include "demos/exhibits/inside/image_tiles.h"

#include <algorithm>
#include <cmath>

namespace lockstep::demos {

bool holdsImages(const TracedTensor& tensor, const Dataset& data) {
    return tensor.id.kind == TensorKind::activations && tensor.id.layer == 0 && data.imageWidth > 0 &&
           tensor.columns == data.imageWidth * data.imageHeight && tensor.keptRows() > 0;
}

TileGrid tilesFor(const Dataset& data, std::size_t images, ImVec2 size, float least) {
    const float across = static_cast<float>(data.imageWidth) / static_cast<float>(data.imageHeight);
    const auto fitting = [&](float high, float room) {
        return std::max<std::size_t>(1, static_cast<std::size_t>(room / high));
    };
    // As large as all of them fit, but no smaller than `least`.
    float high = std::max(std::sqrt(size.x * size.y / (across * static_cast<float>(images))), least);
    while (high > least && fitting(high * across, size.x) * fitting(high, size.y) < images)
        high = std::max(high - 1, least);
    // Where they do not all fit, the size that leaves the least of the room empty.
    const auto count = [&](float each) { return fitting(each * across, size.x) * fitting(each, size.y); };
    const auto filled = [&](float each) { return each * each * static_cast<float>(count(each)); };
    if (count(high) < images)
        for (float larger = least; larger <= 1.6f * least; larger += 1)
            if (filled(larger) > filled(high)) high = larger;
    TileGrid tiles{.columns = std::min(fitting(high * across, size.x), images),
                   .width = data.imageWidth,
                   .height = data.imageHeight};
    tiles.rows = std::min(fitting(high, size.y), (images + tiles.columns - 1) / tiles.columns);
    return tiles;
}

std::optional<ElementAt> tiledElement(const TracedTensor& tensor, const TileGrid& tiles, float acrossShare,
                                      float downShare) {
    const auto pixel = [](float share, std::size_t pixels) {
        return static_cast<std::size_t>(std::clamp(share, 0.0f, 0.99999f) * static_cast<float>(pixels));
    };
    const std::size_t x = pixel(acrossShare, tiles.pixelsWide());
    const std::size_t y = pixel(downShare, tiles.pixelsHigh());
    const std::size_t image = y / (tiles.height + 1) * tiles.columns + x / (tiles.width + 1);
    const std::size_t column = x % (tiles.width + 1), row = y % (tiles.height + 1);
    if (column == tiles.width || row == tiles.height || image >= tensor.keptRows()) return std::nullopt;
    return ElementAt{tensor.id, image, row * tiles.width + column};
}

} // namespace lockstep::demos
