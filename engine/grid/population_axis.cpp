// The axes of a grid of networks: their ranges, texts and marks.
#include "engine/grid/population_grid.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include "engine/net/names.h"

namespace lockstep {

namespace {

constexpr NameOf<Hyperparameter> parameterNames[] = {
    {Hyperparameter::learningRate, "lr"},       {Hyperparameter::initialScale, "init-scale"},
    {Hyperparameter::momentum, "momentum"},     {Hyperparameter::weightDecay, "l2"},
    {Hyperparameter::noise, "noise"},           {Hyperparameter::seed, "seed"},
    {Hyperparameter::activation, "activation"},
};

constexpr double largestSeed = 9007199254740992; // 2^53: a double holds every whole number up to it

[[noreturn]] void throwNoAxis(std::string_view text) {
    throw std::invalid_argument(
        "'" + std::string(text) +
        "' is not an axis; write NAME=FROM:TO or NAME=FROM:TO:log, as in lr=1e-4:1:log, "
        "or activation=NAME,NAME");
}

/// The numbers that a hyperparameter can be, and what sets a member's.
struct Range {
    bool (*contains)(double value) = nullptr;
    const char* words = "";
    void (*set)(PopulationMember& member, double value) = nullptr;
};

bool isPositiveFactor(double value) { return value > 0 && value <= largestInitialScale; }
constexpr const char* positive = "a number above 0, up to 1,000,000";

/// In the order of the enumeration; activations are no numbers.
constexpr Range ranges[] = {
    {isPositiveFactor, positive, [](PopulationMember& member, double value) { member.learningRate = value; }},
    {isPositiveFactor, positive, [](PopulationMember& member, double value) { member.initialScale = value; }},
    {[](double value) { return value >= 0 && value < 1; }, "a number from 0 to below 1",
     [](PopulationMember& member, double value) { member.momentum = value; }},
    {[](double value) { return value >= 0 && value <= 1e6; }, "a number from 0 to 1,000,000",
     [](PopulationMember& member, double value) { member.weightDecay = value; }},
    {[](double value) { return value >= 0 && value <= 0.8; }, "a number from 0 to 0.8"},
    {[](double value) { return value >= 0 && value <= largestSeed && value == std::floor(value); },
     "a whole number from 0 to 2^53"},
    {},
};
constexpr const Range& rangeOf(Hyperparameter parameter) {
    return ranges[static_cast<std::size_t>(parameter)];
}

void requirePossible(Hyperparameter parameter, double value) {
    const Range& range = rangeOf(parameter);
    if (range.contains(value)) return;
    throw std::invalid_argument(std::string(name(parameter)) + " is " + shortestText(value) +
                                "; it must be " + range.words);
}

void validateActivations(const std::vector<Activation>& activations) {
    for (std::size_t i = 0; i < activations.size(); ++i)
        if (std::find(activations.begin(), activations.begin() + static_cast<std::ptrdiff_t>(i),
                      activations[i]) != activations.begin() + static_cast<std::ptrdiff_t>(i))
            throw std::invalid_argument("the activation " + std::string(name(activations[i])) +
                                        " is on the axis twice");
    if (activations.size() < 2)
        throw std::invalid_argument(
            "an axis of activations needs at least two of them, as in activation=relu,tanh");
}

double numberFromText(Hyperparameter parameter, std::string_view text) {
    const ParsedNumber number = parseNumber(trimmed(text));
    if (number.kind == NumberKind::finite) return number.value;
    throw std::invalid_argument("'" + std::string(text) + "' is not a number; " +
                                std::string(name(parameter)) + " is " + rangeOf(parameter).words);
}

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    for (std::size_t end = 0; end != std::string_view::npos;) {
        end = text.find(at);
        parts.push_back(trimmed(text.substr(0, end)));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return parts;
}

void readRange(PopulationAxis& axis, std::string_view text) {
    const std::vector<std::string_view> parts = split(text, ':');
    if (parts.size() < 2 || parts.size() > 3) throwNoAxis(text);
    axis.from = numberFromText(axis.parameter, parts[0]);
    axis.to = numberFromText(axis.parameter, parts[1]);
    constexpr NameOf<bool> logarithmic[] = {{true, "log"}, {false, "linear"}};
    if (parts.size() == 3) axis.logarithmic = valueFromName(logarithmic, "scale", parts[2]);
}

/// The shortest text that is read as the same number; whole numbers with all their digits.
std::string exactText(Hyperparameter parameter, double value) {
    if (parameter == Hyperparameter::seed) return std::to_string(static_cast<std::uint64_t>(value));
    return shortestText(value);
}

/// As printf's %g: with so many digits, or as few as say which number it is.
template <class... Digits> std::string generalText(double value, Digits... digits) {
    std::array<char, 32> text{};
    const auto [end, error] =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, digits...);
    return {text.data(), end};
}

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

std::string_view name(Hyperparameter parameter) { return nameOf(parameterNames, parameter); }

void PopulationAxis::validate() const {
    if (parameter == Hyperparameter::activation) return validateActivations(activations);
    requirePossible(parameter, from);
    requirePossible(parameter, to);
    const std::string both = std::string(name(parameter)) + "=" + shortestText(from) + ":" + shortestText(to);
    if (from == to)
        throw std::invalid_argument("the axis " + both + " has equal ends, so that nothing differs along it");
    if (logarithmic && parameter == Hyperparameter::seed)
        throw std::invalid_argument("seeds have no log scale; write " + both);
    if (logarithmic && (from == 0 || to == 0))
        throw std::invalid_argument("0 has no logarithm: write " + both +
                                    ":linear, or let the axis end above 0");
}

std::string PopulationAxis::text() const {
    std::string all(name(parameter));
    if (parameter != Hyperparameter::activation)
        return all + "=" + exactText(parameter, from) + ":" + exactText(parameter, to) +
               (logarithmic ? ":log" : "");
    for (std::size_t i = 0; i < activations.size(); ++i)
        all += (i == 0 ? "=" : ",") + std::string(name(activations[i]));
    return all;
}

double PopulationAxis::value(std::size_t cell, std::size_t cells) const {
    if (cell == 0) return from;
    if (cell + 1 == cells) return to;
    const double share = static_cast<double>(cell) / static_cast<double>(cells - 1);
    if (logarithmic) return std::exp(std::lerp(std::log(from), std::log(to), share));
    const double between = std::lerp(from, to, share);
    return parameter == Hyperparameter::seed ? std::round(between) : between;
}

Activation PopulationAxis::activation(std::size_t cell, std::size_t cells) const {
    return activations[cell * activations.size() / cells];
}

std::string PopulationAxis::label(std::size_t cell, std::size_t cells) const {
    if (parameter == Hyperparameter::activation) return std::string(name(activation(cell, cells)));
    const double number = value(cell, cells);
    return parameter == Hyperparameter::seed ? exactText(parameter, number) : generalText(number, 3);
}

void PopulationAxis::apply(PopulationMember& member, std::size_t cell, std::size_t cells) const {
    if (const auto set = rangeOf(parameter).set) set(member, value(cell, cells));
    if (parameter == Hyperparameter::seed) member.seed = static_cast<std::uint64_t>(value(cell, cells));
    if (parameter == Hyperparameter::activation) member.activation = activation(cell, cells);
}

PopulationAxis populationAxisFromText(std::string_view text) {
    const std::size_t equals = text.find('=');
    PopulationAxis axis;
    axis.parameter = valueFromName(parameterNames, "hyperparameter", trimmed(text.substr(0, equals)));
    if (equals == std::string_view::npos) throwNoAxis(text);
    const std::string_view values = text.substr(equals + 1);
    if (axis.parameter == Hyperparameter::activation)
        for (const std::string_view activation : split(values, ','))
            axis.activations.push_back(activationFromName(activation));
    else
        readRange(axis, values);
    axis.validate();
    return axis;
}

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
        ticks.push_back({0.5 + share * static_cast<double>(cells - 1),
                         whole ? exactText(parameter, mark) : generalText(mark)});
    }
    return ticks;
}

} // namespace lockstep
