// Where a map looks: parts of the plane of two hyperparameters, zoomed, panned and fitted to a picture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "demos/options/map_size.h"
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

/// What is seen when the picture moves by so many pixels.
MapWindow panned(const MapWindow& window, MapOffset offset, MapSize size);

/// The smallest window around the same middle that has all of `window`, with pixels as wide as they are high.
MapWindow fitted(const MapWindow& window, MapSize size);

/// Why going from one window to the next is refused: floats do not reach so far, or, closer than before, do
/// not tell neighbouring pixels apart. Empty: it is not.
std::string refusal(const MapWindow& from, const MapWindow& to, MapSize size);

/// A window, and the networks that were seen in it.
struct MapPlace {
    MapJob job;
    MapWindow window;

    bool operator==(const MapPlace&) const = default;
};

/// Places that were looked at, as a browser has pages.
class MapHistory {
  public:
    /// Where one was, when going elsewhere; the way forward ends.
    void leave(const MapPlace& place);
    bool canGoBack() const { return !back_.empty(); }
    bool canGoForward() const { return !forward_.empty(); }
    /// `from` is where one is. There has to be one.
    MapPlace goBack(const MapPlace& from);
    MapPlace goForward(const MapPlace& from);

  private:
    std::vector<MapPlace> back_; // the last one is the next to go to
    std::vector<MapPlace> forward_;
};

} // namespace lockstep::demos
