// A prediction drawn by hand: one curve over the axes of a plot, before anything is measured.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/draw/plot.h"
#include "demos/draw/theme.h"

namespace lockstep::demos {

/// One value for each x, all of them positive.
class Sketch {
  public:
    /// Along x, of an axis from its lowest to its highest value.
    static constexpr std::size_t columns = 49;
    static constexpr std::size_t mostPoints = 256;

    bool empty() const { return x_.empty(); }
    void clear() { x_.clear(), y_.clear(); }
    std::span<const double> x() const { return x_; } ///< ascending
    std::span<const double> y() const { return y_; }

    /// Draws a straight line to (x, y) from where the pen was last, and replaces the sketch on the way there.
    /// Values beyond the axes are drawn at their edge. Needs axes with `shown` values.
    ///   begins   puts the pen down there instead
    void penTo(const PlotAxis& xAxis, const PlotAxis& yAxis, double x, double y, bool begins);
    /// The value at x, straight between points as axes show it; NaN outside.
    double at(double x, bool logX, bool logY) const;
    /// For a plot that it outlives: dotted, "your sketch".
    PlotLine line(const Theme& theme) const;

    /// [[x, y], ...]
    nlohmann::ordered_json json() const;
    /// Reads what json() wrote. Throws std::invalid_argument with `name`, which it has in its file.
    static Sketch fromJson(const nlohmann::ordered_json& json, std::string_view name);

  private:
    void set(double x, double y);

    std::vector<double> x_, y_;
    double penX_ = 0; ///< positions on the axes
    double penY_ = 0;
};

/// How far a sketch lies from measured points, as factors of at least 1.
struct SketchMiss {
    double typical = 1; ///< median of all points
    std::size_t points = 0;
    double most = 1;
    double at = 0;        ///< x of the point that it misses most
    bool tooHigh = false; ///< there
};

/// How far the sketch is from the points that it reaches; empty: it reaches none. Points that are not
/// positive are left out.
std::optional<SketchMiss> missOf(const Sketch& sketch, std::span<const double> x, std::span<const double> y,
                                 bool logX, bool logY);
/// One sentence: "Your sketch of dispatches is typically off by a factor of 1.8, and most at 64 (pieces): 5.0
/// times too high."
///   of       what was sketched
///   xTitle   of the axis
std::string missText(const std::optional<SketchMiss>& miss, std::string_view of, std::string_view xTitle);

} // namespace lockstep::demos
