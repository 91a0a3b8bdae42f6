#include "demos/exhibits/map/map_window.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace lockstep::demos {

namespace {

constexpr std::size_t mostHistory = 200;

double width(const MapWindow& window) { return window.right - window.left; }
double height(const MapWindow& window) { return window.top - window.bottom; }

MapPlace travel(const MapPlace& from, std::vector<MapPlace>& to, std::vector<MapPlace>& behind) {
    behind.push_back(from);
    const MapPlace place = to.back();
    to.pop_back();
    return place;
}

} // namespace

MapWindow zoomed(const MapWindow& window, double across, double down, double factor) {
    const double x = window.left + across * width(window);
    const double y = window.top - down * height(window);
    return {x + (window.left - x) * factor, x + (window.right - x) * factor, y + (window.bottom - y) * factor,
            y + (window.top - y) * factor};
}

MapWindow panned(const MapWindow& window, MapOffset offset, MapSize size) {
    const double x = static_cast<double>(offset.columns) * width(window) / size.width;
    const double y = static_cast<double>(offset.rows) * height(window) / size.height;
    return {window.left - x, window.right - x, window.bottom + y, window.top + y};
}

MapWindow fitted(const MapWindow& window, MapSize size) {
    const double pixel = std::max(width(window) / size.width, height(window) / size.height);
    const double byX = (pixel * size.width - width(window)) / 2;
    const double byY = (pixel * size.height - height(window)) / 2;
    return {window.left - byX, window.right + byX, window.bottom - byY, window.top + byY};
}

std::string refusal(const MapWindow& from, const MapWindow& to, MapSize size) {
    if (std::max({-to.left, to.right, -to.bottom, to.top}) > mapReach)
        return fmt::format(
            "Nothing is to be seen beyond 10^{0} and below 10^-{0}: numbers of fp32 end there.", mapReach);
    if (width(to) < width(from) && !to.resolves(size.width, size.height))
        return "The zoom ends here: closer, neighbouring pixels would have the same numbers in fp32.";
    return {};
}

void MapHistory::leave(const MapPlace& place) {
    forward_.clear();
    if (!back_.empty() && back_.back() == place) return;
    back_.push_back(place);
    if (back_.size() > mostHistory) back_.erase(back_.begin());
}

MapPlace MapHistory::goBack(const MapPlace& from) { return travel(from, back_, forward_); }

MapPlace MapHistory::goForward(const MapPlace& from) { return travel(from, forward_, back_); }

} // namespace lockstep::demos
