// Where the marks of an axis are, and what stands beside them.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "engine/grid/population_axis.h"

namespace lockstep {

namespace {

constexpr double nearly = 1e-9; // of a step: rounding must not lose a mark at the end of an axis

/// The smallest of 1, 2 and 5 times a power of ten that is at least `least`.
double roundStep(double least) {
    const double power = std::pow(10, std::floor(std::log10(least) + nearly));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= least * (1 - nearly)) return factor * power;
    return 10 * power;
}

/// `factor` times ten to the power of `exponent`, as close as a double comes to its decimal digits.
double decimal(double factor, int exponent) {
    return exponent < 0 ? factor / std::pow(10, -exponent) : factor * std::pow(10, exponent);
}

std::vector<double> linearMarks(double low, double high, std::size_t most, bool whole) {
    double step = roundStep((high - low) / static_cast<double>(std::max<std::size_t>(most, 1)));
    if (whole) step = std::max(step, 1.0);
    const int digits = static_cast<int>(std::floor(std::log10(step) + nearly));
    const double factor = std::round(step / std::pow(10, digits));
    std::vector<double> marks;
    const double first = std::ceil(low / step - nearly) + 0.0; // the sum makes minus zero zero
    const double last = std::floor(high / step + nearly);
    // Ends so close that steps between them are lost to rounding have marks that are all alike: a few will
    // do.
    const double count = std::min(last - first + 1, static_cast<double>(2 * most + 2));
    for (double i = 0; i < count; ++i) marks.push_back(decimal((first + i) * factor, digits));
    return marks;
}

/// All `factors` times powers of ten within the axis, of every `everyDecade`th power.
std::vector<double> decimalMarks(double low, double high, std::initializer_list<double> factors,
                                 int everyDecade) {
    std::vector<double> marks;
    const int first = static_cast<int>(std::floor(std::log10(low) + nearly));
    const int last = static_cast<int>(std::floor(std::log10(high) + nearly));
    for (int exponent = first; exponent <= last; ++exponent) {
        if (exponent % everyDecade != 0) continue;
        for (const double factor : factors) {
            const double mark = decimal(factor, exponent);
            if (mark >= low * (1 - nearly) && mark <= high * (1 + nearly)) marks.push_back(mark);
        }
    }
    return marks;
}

std::vector<double> logarithmicMarks(double low, double high, std::size_t most) {
    const double decades = std::log10(high / low);
    if (decades < 1) return linearMarks(low, high, most, false);
    if (decades * 3 <= static_cast<double>(most)) return decimalMarks(low, high, {1, 2, 5}, 1);
    const double apart = std::ceil(decades / static_cast<double>(std::max<std::size_t>(most, 1)) - nearly);
    return decimalMarks(low, high, {1}, static_cast<int>(apart));
}

std::string markText(double mark, bool whole) {
    if (whole) return std::to_string(static_cast<std::uint64_t>(mark));
    std::array<char, 32> text{};
    const auto [end, error] =
        std::to_chars(text.data(), text.data() + text.size(), mark, std::chars_format::general);
    return {text.data(), end};
}

std::vector<AxisTick> activationTicks(const PopulationAxis& axis, std::size_t cells) {
    std::vector<AxisTick> ticks;
    for (std::size_t begin = 0, end = 0; begin < cells; begin = end) {
        const Activation activation = axis.activation(begin, cells);
        while (end < cells && axis.activation(end, cells) == activation) ++end;
        ticks.push_back({static_cast<double>(begin + end) / 2, std::string(name(activation))});
    }
    return ticks;
}

} // namespace

std::vector<AxisTick> PopulationAxis::ticks(std::size_t cells, std::size_t most) const {
    if (parameter == Hyperparameter::activation) return activationTicks(*this, cells);
    if (cells == 1) return {{0.5, label(0, 1)}};
    const bool whole = parameter == Hyperparameter::seed;
    const auto [low, high] = std::minmax(from, to);
    std::vector<AxisTick> ticks;
    for (const double mark :
         logarithmic ? logarithmicMarks(low, high, most) : linearMarks(low, high, most, whole)) {
        const double share =
            logarithmic ? std::log(mark / from) / std::log(to / from) : (mark - from) / (to - from);
        ticks.push_back({0.5 + share * static_cast<double>(cells - 1), markText(mark, whole)});
    }
    return ticks;
}

} // namespace lockstep
