#include "demos/exhibits/inside/operation_words.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace lockstep::demos {

// The machines' blue and orange are left out.
ImU32 colourOf(const Theme& theme, OperationKind kind) {
    switch (kind) {
    case OperationKind::gather: return theme.muted;
    case OperationKind::forward: return seriesColour(theme, 2);
    case OperationKind::loss: return seriesColour(theme, 4);
    case OperationKind::backwardInputs: return seriesColour(theme, 5);
    case OperationKind::backwardWeights: return seriesColour(theme, 3);
    case OperationKind::update: return mixed(theme.text, theme.muted, 0.4f);
    }
    return theme.text;
}

namespace {

std::vector<std::string> shortNames(const TracedOperation& operation) {
    const std::size_t l = operation.layer;
    switch (kindOf(operation)) {
    case OperationKind::gather: return {"gather_batch", "gather", "A[0]"};
    case OperationKind::forward: return {fmt::format("dense {}", l), fmt::format("A[{}]", l + 1)};
    case OperationKind::loss:
        if (operation.source == "loss_sum") return {"loss_sum", "sum"};
        return {"loss_and_gradient", "loss"};
    case OperationKind::backwardInputs:
        return {fmt::format("dense_backward_inputs {}", l), fmt::format("backward {}", l),
                fmt::format("dZ[{}]", l - 1)};
    case OperationKind::backwardWeights:
        return {fmt::format("dense_backward_weights {}", l), fmt::format("weights {}", l),
                fmt::format("dW[{}]", l)};
    case OperationKind::update: return {"update", "up"};
    }
    return {};
}

} // namespace

std::vector<std::string> barLabels(const TracedOperation& operation) {
    std::vector<std::string> labels = shortNames(operation);
    // Where there is no room for the word, the mark in the bar's corner says it.
    if (operation.replaced) labels.insert(labels.begin(), labels.front() + ", edited");
    return labels;
}

namespace {

std::string applied(Activation activation, const std::string& inner) {
    return activation == Activation::identity ? inner : fmt::format("{}({})", name(activation), inner);
}

const char* lossFormula(Loss loss) {
    switch (loss) {
    case Loss::crossEntropy: return "loss = mean(log Σ exp(z) - z[t])\ndZ = (softmax(z) - [j = t]) / rows";
    case Loss::meanSquared: return "loss = mean((y - t)²)\ndZ = 2 (y - t) f'(z) / terms";
    case Loss::huber: return "loss = mean(huber(y - t))\ndZ = clamp(y - t, -1, 1) f'(z) / terms";
    case Loss::binaryCrossEntropy:
        return "loss = mean(max(z, 0) - z t + log(1 + exp(-|z|)))\ndZ = (sigmoid(z) - t) / terms";
    }
    return "";
}

const char* updateFormula(Optimizer optimizer) {
    switch (optimizer) {
    case Optimizer::sgd: return "W -= lr dW";
    case Optimizer::momentum: return "m = µ m + dW\nW -= lr m";
    case Optimizer::rmsprop: return "m = α m + (1 - α) dW²\nW -= lr dW / (√m + ε)";
    case Optimizer::adam: return "m = β₁ m + (1 - β₁) dW\nv = β₂ v + (1 - β₂) dW²\nW -= lr m' / (√v' + ε)";
    case Optimizer::adamw:
        return "W *= 1 - lr decay\nm = β₁ m + (1 - β₁) dW\nv = β₂ v + (1 - β₂) dW²\nW -= lr m' / (√v' + ε)";
    }
    return "";
}

} // namespace

std::string formulaOf(const TracedOperation& operation, const NetShape& shape, Optimizer optimizer) {
    const std::size_t l = operation.layer;
    switch (kindOf(operation)) {
    case OperationKind::gather: return "A[0] = rows of the data in the order of the seed";
    case OperationKind::forward:
        return fmt::format("A[{}] = {}", l + 1,
                           applied(shape.activationOf(l), fmt::format("A[{0}] W[{0}]^T + b[{0}]", l)));
    case OperationKind::loss:
        return operation.source == "loss_sum" ? "loss = Σ of the groups' sums" : lossFormula(shape.loss);
    case OperationKind::backwardInputs: {
        const Activation below = shape.activationOf(l - 1);
        const std::string product = fmt::format("dZ[{}] = dZ[{}] W[{}]", l - 1, l, l);
        return below == Activation::identity ? product
                                             : fmt::format("{} ⊙ {}'(Z[{}])", product, name(below), l - 1);
    }
    case OperationKind::backwardWeights: {
        const std::string product = fmt::format("dZ[{0}]^T A[{0}]", l);
        const bool folded = !operation.writes.empty() && operation.writes.front().kind == TensorKind::weights;
        if (folded) return fmt::format("W[{0}] -= lr {1}\nb[{0}] -= lr Σ dZ[{0}]", l, product);
        return fmt::format("dW[{0}] = {1}\ndb[{0}] = Σ dZ[{0}]", l, product);
    }
    case OperationKind::update: return updateFormula(optimizer);
    }
    return {};
}

const char* purposeOf(OperationKind kind) {
    switch (kind) {
    case OperationKind::gather:
        return "Picks the examples of this step, in an order that both machines get from the seed.";
    case OperationKind::forward:
        return "One layer forwards: every neuron weighs its inputs, adds its bias and answers.";
    case OperationKind::loss: return "How wrong the answers are, and which way each output should move.";
    case OperationKind::backwardInputs:
        return "The blame is passed down, through the weights, to the layer below.";
    case OperationKind::backwardWeights:
        return "Which way every weight of the layer should move, summed over the batch.";
    case OperationKind::update: return "Every weight and bias takes one small step downhill.";
    }
    return "";
}

std::size_t counterpartOf(const TracedOperation& operation, const StepTrace& other) {
    const auto found = std::ranges::find_if(other.operations, [&](const TracedOperation& each) {
        return each.name == operation.name && each.layer == operation.layer;
    });
    return static_cast<std::size_t>(found - other.operations.begin());
}

std::string timeText(double milliseconds) {
    if (milliseconds < 0.0995) return fmt::format("{:.1f} µs", milliseconds * 1e3);
    if (milliseconds < 0.9995) return fmt::format("{:.0f} µs", milliseconds * 1e3);
    return milliseconds < 9.995 ? fmt::format("{:.2f} ms", milliseconds)
                                : fmt::format("{:.1f} ms", milliseconds);
}

std::string amountText(double amount, const char* unit) {
    constexpr const char* prefixes[] = {"", "k", "M", "G", "T"};
    std::size_t prefix = 0;
    for (; amount >= 999.5 && prefix + 1 < std::size(prefixes); ++prefix) amount /= 1000;
    return fmt::format("{:.{}f} {}{}", amount,
                       amount >= 99.95 || prefix == 0 ? 0
                       : amount >= 9.995              ? 1
                                                      : 2,
                       prefixes[prefix], unit);
}

std::string rateText(double amount, double milliseconds, const char* unit) {
    if (milliseconds <= 0 || amount <= 0) return "-";
    return amountText(amount / (milliseconds * 1e-3), unit);
}

std::string valueText(float value) { return fmt::format("{:.4g}", value); }

} // namespace lockstep::demos
