#include "engine/grid/population_axis.h"

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

constexpr double largestSeed = 9007199254740992; // 2^53: up to there a double counts in ones
[[noreturn]] void throwNoAxis(std::string_view text) {
    throw std::invalid_argument("'" + std::string(text) +
                                "' is no axis: one is NAME=FROM:TO or NAME=FROM:TO:log, as in lr=1e-4:1:log, "
                                "or activation=NAME,NAME");
}

/// The numbers that a hyperparameter can be.
struct Range {
    double low = 0;
    double high = 0;
    bool lowIncluded = true;
    bool highIncluded = true;
    const char* words = "";

    bool contains(double value) const {
        return (value > low || (lowIncluded && value == low)) &&
               (value < high || (highIncluded && value == high));
    }
};

Range rangeOf(Hyperparameter parameter) {
    switch (parameter) {
    case Hyperparameter::learningRate:
    case Hyperparameter::initialScale:
        return {0, largestInitialScale, false, true, "a number above 0, up to 1,000,000"};
    case Hyperparameter::momentum: return {0, 1, true, false, "a number from 0 to below 1"};
    case Hyperparameter::weightDecay: return {0, 1e6, true, true, "a number from 0 to 1,000,000"};
    case Hyperparameter::noise: return {0, 0.8, true, true, "a number from 0 to 0.8"};
    case Hyperparameter::seed: return {0, largestSeed, true, true, "a whole number from 0 to 2^53"};
    case Hyperparameter::activation: break;
    }
    return {};
}

void requirePossible(Hyperparameter parameter, double value) {
    const Range range = rangeOf(parameter);
    const bool whole = parameter != Hyperparameter::seed || value == std::floor(value);
    if (range.contains(value) && whole) return;
    throw std::invalid_argument(std::string(name(parameter)) + " cannot be " + shortestText(value) +
                                ": it is " + range.words);
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
    throw std::invalid_argument("'" + std::string(text) + "' is no number; " + std::string(name(parameter)) +
                                " is " + rangeOf(parameter).words);
}

bool logarithmicFromText(std::string_view text) {
    constexpr NameOf<bool> scales[] = {{true, "log"}, {false, "linear"}};
    return valueFromName(scales, "scale", text);
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
    if (parts.size() == 3) axis.logarithmic = logarithmicFromText(parts[2]);
}

/// The shortest text that is read as the same number; whole numbers with all their digits.
std::string exactText(Hyperparameter parameter, double value) {
    if (parameter == Hyperparameter::seed) return std::to_string(static_cast<std::uint64_t>(value));
    return shortestText(value);
}

std::string threeDigits(double value) {
    std::array<char, 32> text{};
    const auto [end, error] =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 3);
    return {text.data(), end};
}

} // namespace

std::string_view name(Hyperparameter parameter) { return nameOf(parameterNames, parameter); }

Hyperparameter hyperparameterFromName(std::string_view text) {
    return valueFromName(parameterNames, "hyperparameter", text);
}

void PopulationAxis::validate() const {
    if (parameter == Hyperparameter::activation) return validateActivations(activations);
    requirePossible(parameter, from);
    requirePossible(parameter, to);
    const std::string both = std::string(name(parameter)) + "=" + shortestText(from) + ":" + shortestText(to);
    if (from == to)
        throw std::invalid_argument("the axis " + both + " has equal ends, so that nothing differs along it");
    if (logarithmic && parameter == Hyperparameter::seed)
        throw std::invalid_argument("seeds are numbers of lots and have no logarithm; write " + both);
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
    return parameter == Hyperparameter::seed ? exactText(parameter, number) : threeDigits(number);
}

void PopulationAxis::apply(PopulationMember& member, std::size_t cell, std::size_t cells) const {
    switch (parameter) {
    case Hyperparameter::learningRate: member.learningRate = value(cell, cells); break;
    case Hyperparameter::initialScale: member.initialScale = value(cell, cells); break;
    case Hyperparameter::momentum: member.momentum = value(cell, cells); break;
    case Hyperparameter::weightDecay: member.weightDecay = value(cell, cells); break;
    case Hyperparameter::noise: break;
    case Hyperparameter::seed: member.seed = static_cast<std::uint64_t>(value(cell, cells)); break;
    case Hyperparameter::activation: member.activation = activation(cell, cells); break;
    }
}

PopulationAxis populationAxisFromText(std::string_view text) {
    const std::size_t equals = text.find('=');
    PopulationAxis axis;
    axis.parameter = hyperparameterFromName(trimmed(text.substr(0, equals)));
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

} // namespace lockstep
