#include "demos/draw/plot_math.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Magnitude {
    double size;
    const char* suffix;
};
constexpr Magnitude magnitudes[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}};

/// How the numbers of one axis are written, so that they match: in thousands, with two decimals, ...
struct TickStyle {
    Magnitude unit{1, ""};
    int decimals = 0;
    bool scientific = false;
};

TickStyle tickStyle(double largest, double step) {
    TickStyle style;
    if (largest >= 1e4 && largest < 1e12)
        style.unit =
            *std::ranges::find_if(magnitudes, [&](const Magnitude& unit) { return largest >= unit.size; });
    // Two rounded steps of the smaller kind are still told apart.
    style.decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step / style.unit.size) + 1e-9)));
    style.scientific = largest >= 1e12 || largest < 1e-3 || style.decimals > 6;
    return style;
}

std::string tickText(double value, const TickStyle& style) {
    if (value == 0) return "0";
    if (!style.scientific) return fixed(value / style.unit.size, style.decimals) + style.unit.suffix;
    return scientific(value, 4);
}

std::vector<PlotTick> linearTicks(PlotRange values, std::size_t most, bool log, bool whole) {
    const double step = std::max(
        roundStep(values.span() / static_cast<double>(std::max<std::size_t>(most, 1))), whole ? 1.0 : 0.0);
    const TickStyle style = tickStyle(std::max(std::abs(values.low), std::abs(values.high)), step);
    std::vector<PlotTick> ticks;
    const double first = std::ceil(values.low / step - 1e-9);
    for (double i = first; i * step <= values.high + 1e-9 * step && ticks.size() <= 2 * most + 2; ++i) {
        const double position = axisPosition(i * step, log);
        if (!std::isnan(position)) ticks.push_back({position, tickText(i * step, style)});
    }
    return ticks;
}

// Powers of ten with a label, as many as fit; between them, where there is room, labels at 2 and 5 and plain
// lines.
std::vector<PlotTick> logTicks(PlotRange range, std::size_t most) {
    const auto labels = static_cast<double>(std::max<std::size_t>(most, 1));
    const double stride = std::max(1.0, std::ceil(range.span() / labels));
    const bool between = range.span() * 3 <= labels;
    const bool lines = range.span() <= 12;
    std::vector<PlotTick> ticks;
    for (double power = std::floor(range.low); power <= range.high && ticks.size() < 500; ++power)
        for (int times = 1; times <= (lines ? 9 : 1); ++times) {
            const double position = power + std::log10(times);
            if (position < range.low - 1e-9 || position > range.high + 1e-9) continue;
            const bool labelled =
                times == 1 ? std::fmod(power, stride) == 0 : between && (times == 2 || times == 5);
            const double value = times * std::pow(10.0, power);
            const TickStyle style = tickStyle(value, std::pow(10.0, power));
            ticks.push_back({position, labelled ? tickText(value, style) : ""});
        }
    return ticks;
}

} // namespace

std::string plotNumber(double value, bool decimals) {
    if (!std::isfinite(value)) return "-";
    const double size = std::abs(value);
    if (size >= 1e12 || (size > 0 && size < 1e-4)) return scientific(value, 3);
    for (const Magnitude& unit : magnitudes)
        if (size >= std::max(unit.size, 1e5))
            return translatedFormat("{:.4g}{}", value / unit.size, unit.suffix);
    const bool whole = (value == std::floor(value) && !decimals) || size >= 999.95;
    return whole ? fmt::format("{:.0f}", value) : translatedFormat("{:#.4g}", value);
}

double roundStep(double least) {
    const double power = std::pow(10.0, std::floor(std::log10(least)));
    for (const double times : {1.0, 2.0, 5.0})
        if (least <= times * power * (1 + 1e-9)) return times * power;
    return 10 * power;
}

std::vector<PlotTick> plotTicks(PlotRange range, bool log, std::size_t most, bool whole) {
    if (!std::isfinite(range.low) || !std::isfinite(range.high) || !(range.span() > 0)) return {};
    // Less than about half a decade is as good as linear.
    if (!log || range.span() < 0.6)
        return linearTicks({axisValue(range.low, log), axisValue(range.high, log)}, most, log, whole);
    return logTicks(range, most);
}

double axisPosition(double value, bool log) {
    if (!std::isfinite(value)) return nan;
    if (!log) return value;
    return value > 0 ? std::log10(value) : nan;
}

double axisValue(double position, bool log) { return log ? std::pow(10.0, position) : position; }

bool drawable(double x, double y, bool logX, bool logY) {
    return !std::isnan(axisPosition(x, logX)) && !std::isnan(axisPosition(y, logY));
}

std::optional<PlotRange> plotExtent(std::span<const double> values, bool log) {
    std::optional<PlotRange> extent;
    for (const double value : values) {
        const double at = axisPosition(value, log);
        if (std::isnan(at)) continue;
        if (!extent) extent = PlotRange{at, at};
        extent->low = std::min(extent->low, at);
        extent->high = std::max(extent->high, at);
    }
    return extent;
}

std::optional<PlotRange> united(std::optional<PlotRange> a, std::optional<PlotRange> b) {
    if (!a || !b) return a ? a : b;
    return PlotRange{std::min(a->low, b->low), std::max(a->high, b->high)};
}

PlotRange withMargin(PlotRange extent, bool log) {
    const double size = std::max(std::abs(extent.low), std::abs(extent.high));
    if (size == 0 && !log) return {0, 1};
    if (extent.span() <= 1e-12 * size || extent.span() == 0) {
        const double half = log ? 0.5 : 0.1 * size;
        return {extent.low - half, extent.high + half};
    }
    const double margin = 0.05 * extent.span();
    const bool fromZero = !log && extent.low >= 0 && extent.low < 0.3 * extent.high;
    return {fromZero ? 0 : extent.low - margin, extent.high + margin};
}

PlotRange zoomed(PlotRange range, double fixed, double factor) {
    const PlotRange result{fixed + (range.low - fixed) * factor, fixed + (range.high - fixed) * factor};
    const double size = std::max(std::abs(result.low), std::abs(result.high));
    const bool tooNarrow = result.span() < 1e-9 * size || result.span() < 1e-300;
    const bool tooWide = !std::isfinite(result.low) || !std::isfinite(result.high) || result.span() > 1e30;
    return tooNarrow || tooWide ? range : result;
}

std::vector<double> smoothed(std::span<const double> values, double weight) {
    std::vector<double> result(values.begin(), values.end());
    if (!(weight > 0)) return result;
    double mean = 0;
    double seen = 0;
    for (double& value : result) {
        if (!std::isfinite(value)) continue;
        seen += 1;
        mean += std::max(1 - weight, 8 / (seen + 7)) * (value - mean);
        value = mean;
    }
    return result;
}

std::vector<PlotPoint> decimated(std::span<const double> x, std::span<const double> y, bool logX, bool logY,
                                 PlotRange view, std::size_t columns) {
    std::vector<PlotPoint> points;
    const std::size_t size = std::min(x.size(), y.size());
    if (size == 0 || columns == 0 || !(view.span() > 0)) return points;
    const auto first = x.begin();
    const auto last = first + static_cast<std::ptrdiff_t>(size);
    const auto left = std::lower_bound(first, last, axisValue(view.low, logX));
    const auto right = std::upper_bound(left, last, axisValue(view.high, logX));
    const auto begin = static_cast<std::size_t>(left - first) - (left == first ? 0 : 1);
    const auto end = static_cast<std::size_t>(right - first) + (right == last ? 0 : 1);
    // The lowest and the highest sample of the column under way; none before the first column.
    std::optional<PlotPoint> low;
    std::optional<PlotPoint> high;
    double columnAt = 0;
    bool gap = true; // before that column
    bool gapNow = false;
    const auto finishColumn = [&] {
        if (!low) return;
        const bool lowFirst = low->x <= high->x;
        points.push_back(lowFirst ? *low : *high);
        points.back().begins = gap;
        if (low->y != high->y) points.push_back(lowFirst ? *high : *low);
    };
    for (std::size_t i = begin; i < end; ++i) {
        const PlotPoint point{axisPosition(x[i], logX), axisPosition(y[i], logY), false};
        if (std::isnan(point.x) || std::isnan(point.y)) {
            gapNow = true;
            continue;
        }
        // Samples beyond an edge have a separate column.
        const double share = (point.x - view.low) / view.span();
        const double at = share < 0 ? -1
                                    : std::min(std::floor(share * static_cast<double>(columns)),
                                               static_cast<double>(columns));
        if (!low || at != columnAt) {
            finishColumn();
            gap = gapNow || points.empty();
            columnAt = at;
            low = high = point;
        } else if (point.y < low->y) {
            low = point;
        } else if (point.y > high->y) {
            high = point;
        }
        gapNow = false;
    }
    finishColumn();
    return points;
}

std::optional<std::size_t> nearestSample(std::span<const double> x, std::span<const double> y, bool logX,
                                         bool logY, double at) {
    const std::size_t size = std::min(x.size(), y.size());
    const auto first = x.begin();
    const auto last = first + static_cast<std::ptrdiff_t>(size);
    auto right = static_cast<std::size_t>(std::lower_bound(first, last, axisValue(at, logX)) - first);
    std::size_t left = right;
    while (right < size && !drawable(x[right], y[right], logX, logY)) ++right;
    while (left > 0 && !drawable(x[left - 1], y[left - 1], logX, logY)) --left;
    const bool hasLeft = left > 0;
    const bool hasRight = right < size;
    if (!hasLeft && !hasRight) return std::nullopt;
    if (!hasLeft) return right;
    if (!hasRight) return left - 1;
    const double before = at - axisPosition(x[left - 1], logX);
    const double after = axisPosition(x[right], logX) - at;
    return before <= after ? left - 1 : right;
}

void moveApart(std::span<PlotLabel> labels, double height, double top, double bottom) {
    std::vector<PlotLabel*> order;
    for (PlotLabel& label : labels) order.push_back(&label);
    std::ranges::stable_sort(order, {}, &PlotLabel::centre);
    const auto beside = [](const PlotLabel& a, const PlotLabel& b) {
        return a.left >= b.right || b.left >= a.right;
    };
    // Down from the top, then back up from the bottom where labels went too far.
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i]->centre = std::max(order[i]->centre, top + height / 2);
        for (std::size_t j = 0; j < i; ++j)
            if (!beside(*order[i], *order[j]))
                order[i]->centre = std::max(order[i]->centre, order[j]->centre + height);
    }
    for (std::size_t i = order.size(); i-- > 0;) {
        order[i]->centre = std::min(order[i]->centre, bottom - height / 2);
        for (std::size_t j = i + 1; j < order.size(); ++j)
            if (!beside(*order[i], *order[j]))
                order[i]->centre = std::min(order[i]->centre, order[j]->centre - height);
    }
}

std::string plotCsv(const std::string& xName, std::span<const PlotLine> lines) {
    std::string csv = csvField(xName);
    for (const PlotLine& line : lines) csv += "," + csvField(line.name);
    csv += '\n';
    std::vector<std::size_t> heads(lines.size(), 0);
    const auto left = [&](std::size_t i) {
        return heads[i] < std::min(lines[i].x.size(), lines[i].y.size());
    };
    for (;;) {
        std::optional<double> x;
        for (std::size_t i = 0; i < lines.size(); ++i)
            if (left(i)) x = std::min(x.value_or(lines[i].x[heads[i]]), lines[i].x[heads[i]]);
        if (!x) return csv;
        csv += fmt::format("{}", *x);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            csv += ',';
            if (!left(i) || lines[i].x[heads[i]] > *x) continue;
            const double y = lines[i].y[heads[i]++];
            if (!std::isnan(y)) csv += fmt::format("{}", y);
        }
        csv += '\n';
    }
}

} // namespace lockstep::demos
