#include "demos/exhibits/inside/operation_words.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

std::vector<std::string> shortNames(const TracedOperation& operation) {
    const std::size_t l = operation.layer;
    const OperationKind kind = kindOf(operation);
    const std::string label = labelOf(kind);
    switch (kind) {
    case OperationKind::gather: return {label, "A[0]"};
    case OperationKind::forward: return {fmt::format("{} {}", label, l + 1), fmt::format("A[{}]", l + 1)};
    case OperationKind::loss:
        if (operation.source == "loss_sum") return {"sum of losses", "sum"};
        return {"loss", "L"};
    case OperationKind::backwardInputs:
        return {fmt::format("{} {}", label, l + 1), fmt::format("inputs {}", l + 1),
                fmt::format("dZ[{}]", l - 1)};
    case OperationKind::backwardWeights:
        return {fmt::format("{} {}", label, l + 1), fmt::format("weights {}", l + 1),
                fmt::format("dW[{}]", l)};
    case OperationKind::update:
        if (operation.source == "loss_scale") return {"scale of the loss", "scale"};
        return {label, "W"};
    case OperationKind::wholeStep: return {label, "step"};
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

std::string lossFormula(const NetShape& shape) {
    const std::size_t last = shape.layers() - 1;
    const std::string gradient = fmt::format("dZ[{}] = ", last);
    const std::string outputs = fmt::format("A[{}]", last + 1);
    switch (shape.loss) {
    case Loss::crossEntropy:
        return fmt::format("z = {}\nloss = mean(log Σ exp(z) -\u00A0z[t])\n{}(softmax(z) "
                           "-\u00A0[j\u00A0=\u00A0t])\u00A0/\u00A0rows",
                           outputs, gradient);
    case Loss::binaryCrossEntropy:
        return fmt::format("z = {}\nloss = mean(max(z, 0) - z t + log(1 + exp(-|z|)))\n"
                           "{}(sigmoid(z) - t) / terms",
                           outputs, gradient);
    default: break;
    }
    const bool huber = shape.loss == Loss::huber;
    const bool plain = shape.activationOf(last) == Activation::identity;
    return fmt::format("y = {}\nloss = mean({})\n{}{}{} / terms", outputs,
                       huber ? "huber(y - t)" : "(y - t)²", gradient,
                       huber ? "clamp(y - t, -1, 1)" : "2 (y - t)",
                       plain ? "" : fmt::format(" {}'(Z[{}])", name(shape.activationOf(last)), last));
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
        return operation.source == "loss_sum" ? "loss = Σ of the groups' sums" : lossFormula(shape);
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
    case OperationKind::update:
        if (operation.source == "loss_scale") return "scale / 2 where a db is not finite, and no update then";
        return std::string(infoOf(optimizer).formula);
    case OperationKind::wholeStep: return "W, b after the step = all of the recipe, from W, b before it";
    }
    return {};
}

std::string lettersOf(const TracedOperation& operation, const NetShape& shape) {
    if (kindOf(operation) != OperationKind::loss || operation.source == "loss_sum") return {};
    switch (shape.loss) {
    case Loss::crossEntropy:
        return "z: what the last layer answers; t: the right class; [j = t] is 1 where output j is the right "
               "class, else 0; rows: examples of the batch.";
    case Loss::binaryCrossEntropy:
        return "z: what the last layer answers; t: 1 or 0, the right answer; terms: examples times outputs.";
    default: return "y: what the last layer answers; t: the right values; terms: examples times outputs.";
    }
}

const char* purposeOfGap(const MachineInfo& machine, bool first) {
    if (!machine.gpu) return "No operation is timed here. What the processor does meanwhile is not measured.";
    if (first)
        return "The step has been handed over, and its first operation has not begun. What the device does "
               "meanwhile is not measured.";
    return machine.software
               ? "Between two dispatches: the device's workers are threads of the processor. They end, are "
                 "woken again, and wait for their turn on it. How much of the time each takes is not "
                 "measured."
               : "Between two dispatches: where a barrier stands, the device waits until what ran before has "
                 "ended. How much of this time that is, is not measured.";
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

std::string rateText(double amount, double milliseconds, const char* unit) {
    if (milliseconds <= 0 || amount <= 0) return "-";
    return amountText(amount / (milliseconds * 1e-3), unit);
}

std::string valueText(float value) { return fmt::format("{:.4g}", value); }

} // namespace lockstep::demos
