#include "demos/exhibits/inside/operation_words.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "demos/words/language.h"

namespace lockstep::demos {

namespace {

// The operation's name and shorter ones. Tensors have names of their own, which are never used here.
std::vector<std::string> shortNames(const TracedOperation& operation) {
    const std::size_t layer = operation.layer + 1;
    const Operation kind = operation.shownAs();
    const std::string label(translated(wordsOf(kind).label));
    const std::string ofLayer = fmt::format("{} {}", label, layer);
    if (operation.operation == Operation::lossSum)
        return {std::string(translated("loss: sum")), std::string(translated("sum"))};
    if (operation.operation == Operation::lossScale)
        return {std::string(translated("loss scale")), std::string(translated("scale"))};
    switch (kind) {
    case Operation::gatherBatch: return {label};
    case Operation::dense: return {ofLayer};
    case Operation::lossAndGradient: return {label};
    case Operation::denseBackwardInputs: return {ofLayer, translatedFormat("inputs {}", layer)};
    case Operation::denseBackwardWeights: return {ofLayer, translatedFormat("weights {}", layer)};
    case Operation::update: return {label};
    case Operation::wholeStep: return {label, std::string(translated("step"))};
    case Operation::storeActivations:
    case Operation::fetchActivations: return {ofLayer, label};
    default: throw std::logic_error("an operation without a short name");
    }
}

std::string lossFormula(const NetShape& shape) {
    const std::size_t last = shape.layers() - 1;
    const std::string gradient = fmt::format("dZ[{}] = ", last);
    const std::string outputs = fmt::format("A[{}]", last + 1);
    if (shape.loss == Loss::crossEntropy)
        return fmt::format("z = {}\nloss = mean(log Σ exp(z) -\u00A0z[t])\n{}(softmax(z) "
                           "-\u00A0[j\u00A0=\u00A0t])\u00A0/\u00A0rows",
                           outputs, gradient);
    if (shape.loss == Loss::binaryCrossEntropy)
        return fmt::format("z = {}\nloss = mean(max(z, 0) - z t + log(1 + exp(-|z|)))\n"
                           "{}(sigmoid(z) - t) / terms",
                           outputs, gradient);
    const bool huber = shape.loss == Loss::huber;
    const bool plain = shape.activationOf(last) == Activation::identity;
    return fmt::format("y = {}\nloss = mean({})\n{}{}{} / terms", outputs,
                       huber ? "huber(y - t)" : "(y - t)²", gradient,
                       huber ? "clamp(y - t, -1, 1)" : "2 (y - t)",
                       plain ? "" : fmt::format(" {}'(Z[{}])", name(shape.activationOf(last)), last));
}

} // namespace

std::string titleOf(const TracedOperation& operation, std::size_t layers) {
    const Operation kind = operation.shownAs();
    const std::string label(translated(wordsOf(kind).label));
    if (operation.operation == Operation::lossSum) return translatedFormat("{}, its sum", label);
    if (operation.operation == Operation::lossScale) return std::string(translated("loss scale"));
    return rowOf(kind).ofLayer ? translatedFormat("{}, layer {} of {}", label, operation.layer + 1, layers)
                               : label;
}

std::vector<std::string> barLabels(const TracedOperation& operation, bool shortOnly) {
    std::vector<std::string> labels = shortNames(operation);
    if (shortOnly && labels.size() > 1) labels.erase(labels.begin());
    // Where there is no room for the word, the mark in the bar's corner says it.
    if (operation.replaced) labels.insert(labels.begin(), translatedFormat("{}, edited", labels.front()));
    return labels;
}

std::string formulaOf(const TracedOperation& operation, const NetShape& shape, Optimizer optimizer) {
    const std::size_t l = operation.layer;
    switch (operation.shownAs()) {
    case Operation::gatherBatch:
        return std::string(translated("A[0] = this batch's rows, shuffled by the seed"));
    case Operation::dense: {
        const Activation activation = shape.activationOf(l);
        const std::string sum = fmt::format("A[{0}] W[{0}]^T + b[{0}]", l);
        return activation == Activation::identity
                   ? fmt::format("A[{}] = {}", l + 1, sum)
                   : fmt::format("A[{}] = {}({})", l + 1, name(activation), sum);
    }
    case Operation::lossAndGradient:
        return operation.operation == Operation::lossSum
                   ? std::string(translated("loss = Σ of the groups' sums"))
                   : lossFormula(shape);
    case Operation::denseBackwardInputs: {
        const Activation below = shape.activationOf(l - 1);
        const std::string product = fmt::format("dZ[{}] = dZ[{}] W[{}]", l - 1, l, l);
        return below == Activation::identity ? product
                                             : fmt::format("{} ⊙ {}'(Z[{}])", product, name(below), l - 1);
    }
    case Operation::denseBackwardWeights: {
        const std::string product = fmt::format("dZ[{0}]^T A[{0}]", l);
        if (operation.operation == Operation::denseBackwardWeightsAndUpdate)
            return fmt::format("W[{0}] -= lr {1}\nb[{0}] -= lr Σ dZ[{0}]", l, product);
        return fmt::format("dW[{0}] = {1}\ndb[{0}] = Σ dZ[{0}]", l, product);
    }
    case Operation::update:
        if (operation.operation == Operation::lossScale)
            return std::string(translated("if any db is not finite: scale /= 2, skip the update"));
        return std::string(infoOf(optimizer).formula);
    case Operation::wholeStep: return "W, b ← forward, loss, backward, update (W, b)";
    case Operation::storeActivations: return fmt::format("A on the host[{0}] = A[{0}]", l);
    case Operation::fetchActivations: return fmt::format("A[{0}] = A on the host[{0}]", l);
    default: throw std::logic_error("an operation without a formula");
    }
}

std::string lettersOf(const TracedOperation& operation, const NetShape& shape) {
    if (operation.shownAs() != Operation::lossAndGradient || operation.operation == Operation::lossSum)
        return {};
    switch (shape.loss) {
    case Loss::crossEntropy:
        return "z: outputs of the last layer; t: the label; [j = t]: 1 for the output of the labelled class, "
               "else 0; rows: examples in the batch.";
    case Loss::binaryCrossEntropy:
        return "z: outputs of the last layer; t: the label, 1 or 0; terms: examples times outputs.";
    case Loss::meanSquared:
    case Loss::huber:
        return "y: outputs of the last layer; t: the target values; terms: examples times outputs.";
    default: throw std::logic_error("a loss without letters");
    }
}

std::vector<bool> waitsOf(const StepTrace& trace) {
    std::vector<bool> waits;
    std::set<TensorId> read, written; // since the last wait
    const auto among = [](const std::vector<TensorId>& ids, const std::set<TensorId>& all) {
        return std::ranges::any_of(ids, [&](const TensorId& id) { return all.contains(id); });
    };
    for (const TracedOperation& each : trace.operations) {
        const bool hazard =
            among(each.reads, written) || among(each.writes, written) || among(each.writes, read);
        waits.push_back(each.barrierBefore || (!trace.oneSubmission && hazard));
        if (waits.back()) read.clear(), written.clear();
        read.insert(each.reads.begin(), each.reads.end());
        written.insert(each.writes.begin(), each.writes.end());
    }
    return waits;
}

const char* purposeOfGap(const MachineInfo& machine, bool first) {
    if (!machine.gpu && (first || machine.threads < 2))
        return "No timed operation runs here. What the processor does instead is not measured.";
    if (!machine.gpu) return "The first thread, whose operations are shown, waits for the other threads.";
    if (first)
        return "The step has been submitted, but its first operation has not begun. What the device does "
               "until then is not measured.";
    return machine.software
               ? "Between two dispatches, the threads of this software device finish, are woken, "
                 "and wait for a core. Their shares are not measured separately."
               : "Between two dispatches. At a barrier, the device waits until earlier work has "
                 "finished. The wait is not measured separately.";
}

std::size_t counterpartOf(const TracedOperation& operation, const StepTrace& other) {
    const auto found = std::ranges::find_if(other.operations, [&](const TracedOperation& each) {
        return each.shownAs() == operation.shownAs() && each.layer == operation.layer;
    });
    return static_cast<std::size_t>(found - other.operations.begin());
}

std::string rateText(double amount, double milliseconds, const char* unit) {
    if (milliseconds <= 0 || amount <= 0) return "-";
    return amountText(amount / (milliseconds * 1e-3), unit);
}

} // namespace lockstep::demos
