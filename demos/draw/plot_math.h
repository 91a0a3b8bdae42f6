// The arithmetic of a plot, without a window: where values lie, which ticks an axis gets, what is left of
// many samples on few pixels. Values are the numbers shown; positions are where they lie on an axis: the
// value itself, or its decimal logarithm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lockstep::demos {

/// One curve. The spans are only read while it is drawn or written.
struct PlotLine {
    std::string name; ///< shown at its end and in the legend
    std::uint32_t colour = 0;
    bool dashed = false;       ///< the second cue beside the colour
    bool dotted = false;       ///< instead: a prediction
    bool faint = false;        ///< an overlay, such as an earlier run: thin, pale, no label
    std::span<const double> x; ///< ascending; same length as y; NaN in y is a gap
    std::span<const double> y;
    bool points = false; ///< marks at the samples, for few values (epochs)
    bool hollow = false; ///< these marks are outlines: tells lines of a kind apart
};

struct PlotRange {
    double low = 0;
    double high = 1;

    double span() const { return high - low; }
};

/// NaN for values that the axis cannot show: not finite, or, on a logarithmic axis, not positive.
double axisPosition(double value, bool log);
double axisValue(double position, bool log);
bool drawable(double x, double y, bool logX, bool logY);

/// For people: about four digits, "12.34", "1.2M", "3.1·10⁻⁷". Whole numbers have no decimals, unless they
/// stand below others that have (`decimals`).
std::string plotNumber(double value, bool decimals = false);

/// The smallest of 1, 2 and 5 times a power of ten that is at least `least`: the distance of an axis'
/// numbers.
double roundStep(double least);

struct PlotTick {
    double position = 0;
    std::string label; ///< empty: a line only
};

/// Round numbers for an axis from `range.low` to `range.high` (positions), about `most` of them with a label.
/// `whole`: whole numbers only.
std::vector<PlotTick> plotTicks(PlotRange range, bool log, std::size_t most, bool whole = false);

/// The positions that a curve's samples take; nothing when the axis can show none of them.
std::optional<PlotRange> plotExtent(std::span<const double> values, bool log);
/// Both.
std::optional<PlotRange> united(std::optional<PlotRange> a, std::optional<PlotRange> b);
/// A little more than `extent` (positions), never empty. Values that begin near 0 begin at 0.
PlotRange withMargin(PlotRange extent, bool log);
/// `range` scaled by `factor` around `fixed`, which stays where it is; never too narrow for doubles to tell
/// apart.
PlotRange zoomed(PlotRange range, double fixed, double factor);

/// Exponential mean of weight 0 (the values themselves) to below 1. Of the first values, it covers about the
/// latest eighth only, so that it does not lag behind a steep fall: value t counts 8 / (t + 7) at least, from
/// polynomial-decay averaging (Shamir and Zhang, "Stochastic gradient descent for non-smooth optimization",
/// 2013). What is not finite stays as it is and leaves the mean alone.
std::vector<double> smoothed(std::span<const double> values, double weight);

struct PlotPoint {
    double x = 0; ///< positions
    double y = 0;
    bool begins = false; ///< no line leads here
};

/// A curve cut to what `view` (positions) shows, and to at most the lowest and the highest sample of each of
/// `columns` pixel columns, in their order. One sample beyond either edge stays, so that the line leads
/// there.
std::vector<PlotPoint> decimated(std::span<const double> x, std::span<const double> y, bool logX, bool logY,
                                 PlotRange view, std::size_t columns);

/// Index of the drawable sample nearest to the position `at`.
std::optional<std::size_t> nearestSample(std::span<const double> x, std::span<const double> y, bool logX,
                                         bool logY, double at);

/// A label beside a line's end.
struct PlotLabel {
    double left = 0;
    double right = 0;
    double centre = 0; ///< from the top
};
/// Moves labels of `height` up or down until none overlap, within [top, bottom] while there is room.
void moveApart(std::span<PlotLabel> labels, double height, double top, double bottom);

/// A header, then one row for each x in ascending order; empty where a line has no value there.
std::string plotCsv(const std::string& xName, std::span<const PlotLine> lines);

} // namespace lockstep::demos
