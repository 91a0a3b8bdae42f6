#include "demos/kit/sketch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/words/median.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

// A hand is no more exact than that, and files stay readable.
double fourDigits(double value) {
    const double unit = std::pow(10, std::floor(std::log10(value)) - 3);
    return unit >= 1 ? std::round(value / unit) * unit
                     : std::round(value / unit) / std::round(1 / unit); // 0.1234 and not 0.12340000000000001
}

std::string factorText(double factor) {
    return factor < 9.95 ? translatedFormat("{:.1f}", factor)
                         : grouped(static_cast<std::uint64_t>(std::min(std::round(factor), 1e15)));
}

} // namespace

void Sketch::set(double x, double y) {
    const auto place = std::ranges::lower_bound(x_, x);
    const auto index = place - x_.begin();
    if (place != x_.end() && *place == x) {
        y_[static_cast<std::size_t>(index)] = y;
    } else if (x_.size() < mostPoints) {
        x_.insert(place, x);
        y_.insert(y_.begin() + index, y);
    }
}

void Sketch::penTo(const PlotAxis& xAxis, const PlotAxis& yAxis, double x, double y, bool begins) {
    const PlotRange across{axisPosition(xAxis.shown->low, xAxis.log),
                           axisPosition(xAxis.shown->high, xAxis.log)};
    const auto on = [](const PlotAxis& axis, double value) {
        return axisPosition(std::clamp(value, axis.shown->low, axis.shown->high), axis.log);
    };
    const double column = across.span() / (columns - 1);
    const double toX = std::round((on(xAxis, x) - across.low) / column);
    const double toY = on(yAxis, y);
    if (begins) penX_ = toX, penY_ = toY;
    const double step = toX < penX_ ? -1 : 1;
    for (double at = penX_;; at += step) {
        const double share = toX == penX_ ? 1 : (at - penX_) / (toX - penX_);
        const double value = axisValue(penY_ + share * (toY - penY_), yAxis.log);
        // On a linear axis from 0, the lowest place is no value that factors could be told from.
        if (value > 0) set(fourDigits(axisValue(across.low + at * column, xAxis.log)), fourDigits(value));
        if (at == toX) break;
    }
    penX_ = toX;
    penY_ = toY;
}

double Sketch::at(double x, bool logX, bool logY) const {
    // The ends of an axis are rounded as all points are.
    constexpr double slack = 1e-3;
    if (empty() || x < x_.front() * (1 - slack) || x > x_.back() * (1 + slack))
        return std::numeric_limits<double>::quiet_NaN();
    const auto right = static_cast<std::size_t>(std::ranges::lower_bound(x_, x) - x_.begin());
    if (right == 0) return y_.front();
    if (right == x_.size()) return y_.back();
    const auto position = [&](std::size_t i) { return axisPosition(x_[i], logX); };
    const double share =
        (axisPosition(x, logX) - position(right - 1)) / (position(right) - position(right - 1));
    const double from = axisPosition(y_[right - 1], logY);
    return axisValue(from + share * (axisPosition(y_[right], logY) - from), logY);
}

PlotLine Sketch::line(const Theme& theme) const {
    return {.name = "your sketch", .colour = theme.text, .dotted = true, .x = x_, .y = y_};
}

nlohmann::ordered_json Sketch::json() const {
    nlohmann::ordered_json points = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < x_.size(); ++i)
        points.push_back(nlohmann::ordered_json::array({x_[i], y_[i]}));
    return points;
}

Sketch Sketch::fromJson(const nlohmann::ordered_json& json, std::string_view name) {
    const auto refuse = [&](std::string_view what) {
        throw std::invalid_argument(fmt::format("the sketch '{}' {}", name, what));
    };
    if (!json.is_array() || json.size() > mostPoints)
        refuse(fmt::format("must be a list of at most {} points", mostPoints));
    Sketch sketch;
    for (const nlohmann::ordered_json& point : json) {
        if (!point.is_array() || point.size() != 2 || !point[0].is_number() || !point[1].is_number())
            refuse("must have points [x, y] of two numbers");
        const auto x = point[0].get<double>();
        const auto y = point[1].get<double>();
        for (const double value : {x, y})
            if (!(value > 0 && value < 1e18)) refuse("must have numbers above 0 and below 1e18");
        if (!sketch.empty() && x <= sketch.x_.back()) refuse("must have points from left to right");
        sketch.x_.push_back(x);
        sketch.y_.push_back(y);
    }
    return sketch;
}

std::optional<SketchMiss> missOf(const Sketch& sketch, std::span<const double> x, std::span<const double> y,
                                 bool logX, bool logY) {
    SketchMiss miss;
    std::vector<double> factors;
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
        const double ratio = sketch.at(x[i], logX, logY) / y[i];
        if (!(ratio > 0 && std::isfinite(ratio))) continue; // one of them is missing, or not positive
        factors.push_back(std::max(ratio, 1 / ratio));
        if (factors.size() > 1 && factors.back() <= miss.most) continue;
        miss.most = factors.back();
        miss.at = x[i];
        miss.tooHigh = ratio > 1;
    }
    if (factors.empty()) return std::nullopt;
    miss.points = factors.size();
    miss.typical = median(std::move(factors));
    return miss;
}

std::string missText(const std::optional<SketchMiss>& miss, std::string_view of, std::string_view xTitle) {
    const std::string sketch = translatedFormat("Your sketch of {}", of);
    if (!miss) return translatedFormat("{} reaches none of the measured points.", sketch);
    if (miss->most < 1.15)
        return translatedFormat("{} is right: off by a factor of {} at most.", sketch,
                                factorText(miss->most));
    const std::string place = miss->at >= 1000 ? grouped(static_cast<std::uint64_t>(miss->at))
                                               : translatedFormat("{:.4g}", miss->at);
    const std::string_view axis = translated(xTitle);
    const std::string most = factorText(miss->most);
    if (miss->points < 3)
        return miss->tooHigh ? translatedFormat("{} is farthest off at {} ({}): {} times too high.", sketch,
                                                place, axis, most)
                             : translatedFormat("{} is farthest off at {} ({}): {} times too low.", sketch,
                                                place, axis, most);
    const std::string typical = factorText(miss->typical);
    return miss->tooHigh
               ? translatedFormat("{} is typically off by a factor of {}, and most at {} ({}): {} times too "
                                  "high.",
                                  sketch, typical, place, axis, most)
               : translatedFormat("{} is typically off by a factor of {}, and most at {} ({}): {} times too "
                                  "low.",
                                  sketch, typical, place, axis, most);
}

} // namespace lockstep::demos
