#include "demos/exhibits/inside/element_sum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "demos/exhibits/inside/operation_words.h"
#include "demos/words/language.h"
#include "engine/net/activation.h"
#include "engine/net/float_formats.h"

namespace lockstep::demos {

namespace {

std::string elementName(const TensorId& id, std::size_t row, std::size_t column) {
    if (rowOf(id.kind).vector) return fmt::format("{}[{}]", name(id), column);
    return fmt::format("{}[{}, {}]", name(id), row, column);
}

/// The value, or none where it was not kept.
std::optional<double> elementValue(const StepTrace& trace, const TensorId& id, std::size_t row,
                                   std::size_t column) {
    const TracedTensor* tensor = trace.find(id);
    if (tensor == nullptr || row >= tensor->keptRows() || column >= tensor->columns) return std::nullopt;
    return static_cast<double>(tensor->values[row * tensor->columns + column]);
}

OperandLine rowLine(const StepTrace& trace, const TensorId& id, std::size_t row, char index) {
    OperandLine line{
        translatedFormat("row {} of {}", row, name(id)), fmt::format("{}[{}, {}]", name(id), row, index), {}};
    const TracedTensor* tensor = trace.find(id);
    if (tensor == nullptr || row >= tensor->keptRows()) return line;
    const auto begin = tensor->values.begin() + static_cast<std::ptrdiff_t>(row * tensor->columns);
    line.values.assign(begin, begin + static_cast<std::ptrdiff_t>(tensor->columns));
    return line;
}

OperandLine columnLine(const StepTrace& trace, const TensorId& id, std::size_t column, char index) {
    OperandLine line{translatedFormat("column {} of {}", column, name(id)),
                     fmt::format("{}[{}, {}]", name(id), index, column),
                     {}};
    const TracedTensor* tensor = trace.find(id);
    if (tensor == nullptr || column >= tensor->columns || tensor->keptRows() < tensor->rows) return line;
    for (std::size_t row = 0; row < tensor->rows; ++row)
        line.values.push_back(static_cast<double>(tensor->values[row * tensor->columns + column]));
    return line;
}

// As products read weights.
void roundToHalves(OperandLine& line) {
    for (double& value : line.values)
        value = static_cast<double>(fromFloat16(toFloat16(static_cast<float>(value))));
}

void roundToBf16(OperandLine& line) {
    for (double& value : line.values)
        value = static_cast<double>(rounded(static_cast<float>(value), FloatKind::bf16));
}

bool forwardSum(const NetShape& shape, const StepTrace& trace, std::size_t layer, const ElementAt& at,
                ElementSum& element) {
    const TensorId bias{TensorKind::bias, layer};
    const auto added = elementValue(trace, bias, 0, at.column);
    if (!added) return false;
    element.first = rowLine(trace, {TensorKind::activations, layer}, at.row, 'i');
    element.second = rowLine(trace, {TensorKind::weights, layer}, at.column, 'i');
    element.bias = NamedNumber{elementName(bias, 0, at.column), *added};
    const std::string sum =
        fmt::format("Σ {} {} + {}", element.first.name, element.second.name, element.bias->name);
    const Activation activation = shape.activationOf(layer);
    if (at.tensor.kind == TensorKind::activations && activation != Activation::identity) {
        element.activated = NamedNumber{translatedFormat("{}(sum)", name(activation))};
        element.formula = fmt::format("{}({})", name(activation), sum);
    } else {
        element.formula = sum;
    }
    return true;
}

bool backwardInputsSum(const NetShape& shape, const StepTrace& trace, std::size_t layer, const ElementAt& at,
                       ElementSum& element) {
    element.index = 'o';
    element.first = rowLine(trace, {TensorKind::dSums, layer}, at.row, 'o');
    element.second = columnLine(trace, {TensorKind::weights, layer}, at.column, 'o');
    element.formula = fmt::format("Σ {} {}", element.first.name, element.second.name);
    const Activation below = shape.activationOf(layer - 1);
    if (below == Activation::identity) return true;
    const TensorId id = derivativeNeedsSum(below) ? TensorId{TensorKind::sums, layer - 1}
                                                  : TensorId{TensorKind::activations, layer};
    const auto saved = elementValue(trace, id, at.row, at.column);
    if (!saved) return false;
    element.slope = NamedNumber{
        fmt::format("{}'({})", name(below), elementName({TensorKind::sums, layer - 1}, at.row, at.column)),
        activationDerivative(below, *saved)};
    element.formula = fmt::format("({}) {}", element.formula, element.slope->name);
    return true;
}

bool backwardWeightsSum(const StepTrace& trace, std::size_t layer, const ElementAt& at, ElementSum& element) {
    element.index = 'r';
    const bool ofBias = at.tensor.kind == TensorKind::dBias;
    if (!ofBias && at.tensor.kind != TensorKind::dWeights) return false; // updated at once
    element.first = columnLine(trace, {TensorKind::dSums, layer}, ofBias ? at.column : at.row, 'r');
    element.formula = "Σ " + element.first.name;
    if (ofBias) return true;
    element.second = columnLine(trace, {TensorKind::activations, layer}, at.column, 'r');
    element.formula += " " + element.second.name;
    return true;
}

} // namespace

std::optional<ElementSum> elementSum(const NetShape& shape, const StepTrace& trace,
                                     const TracedOperation& operation, const ElementAt& at) {
    if (std::ranges::find(operation.writes, at.tensor) == operation.writes.end()) return std::nullopt;
    const auto stored = elementValue(trace, at.tensor, at.row, at.column);
    if (!stored) return std::nullopt;
    ElementSum element;
    element.stored = {elementName(at.tensor, at.row, at.column), *stored};
    const std::size_t layer = operation.layer;
    const Operation kind = operation.shownAs();
    const bool known =
        kind == Operation::dense                  ? forwardSum(shape, trace, layer, at, element)
        : kind == Operation::denseBackwardInputs  ? backwardInputsSum(shape, trace, layer, at, element)
        : kind == Operation::denseBackwardWeights ? backwardWeightsSum(trace, layer, at, element)
                                                  : false;
    const bool alone = element.second.name.empty();
    if (!known || element.size() == 0 || (!alone && element.second.values.size() != element.size()))
        return std::nullopt;
    element.formula = element.stored.name + " = " + element.formula;
    if (trace.half && kind != Operation::denseBackwardWeights) roundToHalves(element.second);
    if (trace.bf16 && !alone) {
        roundToBf16(element.first);
        roundToBf16(element.second);
    }
    for (std::size_t i = 0; i < element.size(); ++i) element.sum += element.product(i);
    if (element.bias) element.sum += element.bias->value;
    element.result = element.slope ? element.sum * element.slope->value : element.sum;
    if (element.activated)
        element.result = element.activated->value = activate(shape.activationOf(layer), element.sum);
    return element;
}

std::size_t operationOf(const NetShape& shape, const StepTrace& trace, const ElementAt& at) {
    const auto found = std::ranges::find_if(trace.operations, [&](const TracedOperation& operation) {
        return elementSum(shape, trace, operation, at).has_value();
    });
    return static_cast<std::size_t>(found - trace.operations.begin());
}

LargestProducts largestProducts(const ElementSum& element, std::size_t most) {
    std::vector<std::size_t> order(element.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto magnitude = [&](std::size_t i) { // what is no number comes first
        const double size = std::abs(element.product(i));
        return std::isnan(size) ? std::numeric_limits<double>::infinity() : size;
    };
    std::ranges::stable_sort(order,
                             [&](std::size_t a, std::size_t b) { return magnitude(a) > magnitude(b); });
    LargestProducts largest;
    const std::size_t shown = std::min(most, order.size());
    largest.shown.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown));
    std::vector<std::size_t> rest(order.begin() + static_cast<std::ptrdiff_t>(shown), order.end());
    std::ranges::sort(rest); // in the order of the plain loop
    largest.others = rest.size();
    for (const std::size_t i : rest) largest.othersSum += element.product(i);
    return largest;
}

} // namespace lockstep::demos
