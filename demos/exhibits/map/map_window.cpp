#include "demos/exhibits/map/map_window.h"

#include <bit>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "demos/words/language.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t mostHistory = 200;

double width(const MapWindow& window) { return window.right - window.left; }
double height(const MapWindow& window) { return window.top - window.bottom; }

/// Where a pixel's middle of one window lies in another: the other's pixel, or -1 outside.
std::vector<std::int64_t> sources(double low, double high, std::uint32_t count, double otherLow,
                                  double otherHigh, std::uint32_t otherCount) {
    std::vector<std::int64_t> result(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        const double at = low + (i + 0.5) * (high - low) / count;
        const double pixel = std::floor((at - otherLow) / (otherHigh - otherLow) * otherCount);
        result[i] = pixel >= 0 && pixel < otherCount ? static_cast<std::int64_t>(pixel) : -1;
    }
    return result;
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
        return translatedFormat("The map ends at 10^{0} and 10^-{0}, near the limits of fp32. Pan back.",
                                mapReach);
    if (width(to) < width(from) && !to.resolves(size.width, size.height))
        return "The zoom ends here: any closer, neighbouring pixels would round to the same fp32 numbers.";
    return {};
}

void MapHistory::leave(const MapPlace& place) {
    after.clear();
    if (before.empty() || before.back() != place) before.push_back(place);
    if (before.size() > mostHistory) before.erase(before.begin());
}

OutcomeGrid::OutcomeGrid(MapSize size)
    : size_(size), shown_(size.pixels(), unknown), fineness_(size.pixels(), nothing),
      changedRows_(size.height, true) {}

// The side of the block that a pixel stands for: the largest power of two that divides both its numbers.
std::uint32_t OutcomeGrid::block(std::uint32_t column, std::uint32_t row) const {
    const auto x = static_cast<std::uint64_t>(column - origin_.columns);
    const auto y = static_cast<std::uint64_t>(row - origin_.rows);
    return 1u << std::countr_zero(x | y | coarsest);
}

std::vector<std::uint32_t> OutcomeGrid::missing() const {
    std::vector<std::uint32_t> order;
    order.reserve(size_.pixels() - known_);
    for (std::uint32_t side = coarsest; side > 0; side /= 2)
        for (std::uint32_t row = 0; row < size_.height; ++row) {
            if (static_cast<std::uint64_t>(row - origin_.rows) % side != 0) continue;
            for (std::uint32_t column = 0; column < size_.width; ++column) {
                const std::uint32_t index = row * size_.width + column;
                if (block(column, row) == side && !trained(index)) order.push_back(index);
            }
        }
    return order;
}

void OutcomeGrid::set(std::uint32_t index, MapOutcome outcome) {
    const std::uint32_t column = index % size_.width;
    const std::uint32_t row = index / size_.width;
    if (!trained(index)) ++known_;
    paint(column, row, block(column, row), outcome);
    shown_[index] = outcome;
    fineness_[index] = exact;
}

void OutcomeGrid::paint(std::uint32_t column, std::uint32_t row, std::uint32_t side, MapOutcome outcome) {
    // At the left and upper edge, the coarser pixel before may lie outside: the next one stands in for it.
    const std::uint32_t left = column < side ? 0 : column;
    const std::uint32_t top = row < side ? 0 : row;
    const std::uint32_t right = std::min(column + side, size_.width);
    const std::uint32_t bottom = std::min(row + side, size_.height);
    for (std::uint32_t y = top; y < bottom; ++y) {
        changedRows_[y] = true;
        for (std::uint32_t x = left; x < right; ++x) {
            const std::size_t at = static_cast<std::size_t>(y) * size_.width + x;
            if (fineness_[at] < side) continue;
            shown_[at] = outcome;
            fineness_[at] = static_cast<std::uint8_t>(side);
        }
    }
}

void OutcomeGrid::pan(MapOffset offset) {
    OutcomeGrid moved(size_);
    moved.origin_ = {origin_.columns + offset.columns, origin_.rows + offset.rows};
    for (std::int64_t row = 0; row < size_.height; ++row) {
        const std::int64_t fromRow = row - offset.rows;
        if (fromRow < 0 || fromRow >= size_.height) continue;
        const std::int64_t first = std::max<std::int64_t>(0, offset.columns);
        const std::int64_t last = std::min<std::int64_t>(size_.width, size_.width + offset.columns);
        if (first >= last) break;
        const auto from = static_cast<std::ptrdiff_t>(fromRow * size_.width + first - offset.columns);
        const auto to = static_cast<std::ptrdiff_t>(row * size_.width + first);
        std::copy_n(shown_.begin() + from, last - first, moved.shown_.begin() + to);
        std::copy_n(fineness_.begin() + from, last - first, moved.fineness_.begin() + to);
    }
    moved.known_ = static_cast<std::size_t>(std::ranges::count(moved.fineness_, exact));
    *this = std::move(moved);
}

void OutcomeGrid::look(const MapWindow& from, const MapWindow& to, MapSize size) {
    OutcomeGrid next(size);
    const auto columns = sources(to.left, to.right, size.width, from.left, from.right, size_.width);
    // Rows count from the top.
    const auto rows = sources(-to.top, -to.bottom, size.height, -from.top, -from.bottom, size_.height);
    for (std::uint32_t row = 0; row < size.height; ++row)
        for (std::uint32_t column = 0; column < size.width; ++column) {
            if (rows[row] < 0 || columns[column] < 0) continue;
            const auto seen = static_cast<std::size_t>(rows[row] * size_.width + columns[column]);
            if (fineness_[seen] == nothing) continue;
            const std::size_t at = static_cast<std::size_t>(row) * size.width + column;
            next.shown_[at] = shown_[seen];
            next.fineness_[at] = before;
        }
    *this = std::move(next);
}

std::vector<std::uint32_t> OutcomeGrid::takeChangedRows() {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < size_.height; ++row) {
        if (!changedRows_[row]) continue;
        rows.push_back(row);
        changedRows_[row] = false;
    }
    return rows;
}

MapSurvey surveyOf(const OutcomeGrid& grid) {
    const std::span<const MapOutcome> outcomes = grid.shown();
    const auto [width, height] = grid.size();
    std::size_t diverged = 0;
    std::size_t crossings = 0;
    for (std::uint32_t row = 0; row < height; ++row)
        for (std::uint32_t column = 0; column < width; ++column) {
            const std::size_t at = std::size_t{row} * width + column;
            const bool here = outcomes[at] < 0;
            diverged += here ? 1 : 0;
            if (column > 0 && here != (outcomes[at - 1] < 0)) ++crossings;
            if (row > 0 && here != (outcomes[at - width] < 0)) ++crossings;
        }
    return {.divergedShare = static_cast<double>(diverged) / static_cast<double>(outcomes.size()),
            .crossings = static_cast<double>(crossings) / (width + height)};
}

} // namespace lockstep::demos
