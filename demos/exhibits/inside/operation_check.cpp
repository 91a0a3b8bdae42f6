#include "demos/exhibits/inside/shader_trial.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include "demos/exhibits/inside/operation_words.h"
#include "engine/net/activation.h"
#include "engine/net/float_formats.h"
#include "engine/net/param_layout.h"
#include "engine/net/plain_ops.h"
#include "engine/run/make_trainer.h"

namespace lockstep::demos {

namespace {

using Values = std::vector<double>;
using Indices = std::vector<std::size_t>;

constexpr std::size_t mostProducts = 30'000'000; // of one operation: a tenth of a second for the twin

/// At most as many of `count` as fit, evenly spaced, the first and the last among them.
Indices someOf(std::size_t count, std::size_t productsOfOne) {
    const std::size_t few = std::min<std::size_t>(count, 4);
    const std::size_t many = std::clamp(mostProducts / std::max<std::size_t>(productsOfOne, 1), few, count);
    Indices chosen(many);
    for (std::size_t i = 0; i < many; ++i) chosen[i] = many == 1 ? 0 : i * (count - 1) / (many - 1);
    return chosen;
}

Indices allOf(std::size_t count) {
    Indices all(count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

class Checker {
  public:
    Checker(const TrainJob& job, const StepTrace& trace)
        : job_(job), trace_(trace),
          order_(job.data->train.count, job.settings.batch, job.settings.seed, job.settings.shuffle),
          step_(stepSettings(job.settings, order_, trace.step)), rows_(step_.batch.rows) {}

    std::optional<Difference> check() {
        for (const TracedOperation& operation : trace_.operations) {
            operation_ = &operation;
            if (trace_.skipped && kindOf(operation) != OperationKind::gather &&
                kindOf(operation) != OperationKind::forward)
                continue; // beyond what halves can say, and nothing was learned from it
            switch (kindOf(operation)) {
            case OperationKind::gather: checkGather(); break;
            case OperationKind::forward: checkForward(operation.layer); break;
            case OperationKind::loss:
                if (!operation.writes.empty()) checkLoss(); // the sum of groups has none
                break;
            case OperationKind::backwardInputs: checkBackwardInputs(operation.layer); break;
            case OperationKind::backwardWeights: checkBackwardWeights(operation.layer); break;
            case OperationKind::update:
                if (!operation.writes.empty()) checkUpdate(); // what scales the loss has none
                break;
            case OperationKind::wholeStep: checkWholeStep(); break;
            }
            if (found_) return found_;
        }
        return lossDifference_;
    }

  private:
    const TracedTensor& traced(const TensorId& id) const {
        const TracedTensor* tensor = trace_.find(id);
        if (tensor == nullptr || tensor->keptRows() != tensor->rows)
            throw std::invalid_argument("the trace does not hold the whole of " + name(id));
        return *tensor;
    }

    Values values(const TensorId& id) const {
        const std::vector<float>& kept = traced(id).values;
        return {kept.begin(), kept.end()};
    }

    bool storedAsHalves(TensorKind kind) const {
        return trace_.half &&
               (kind == TensorKind::activations || kind == TensorKind::sums || kind == TensorKind::dSums);
    }

    /// The weights as products read them.
    Values operandWeights(std::size_t layer) const {
        Values weights = values({TensorKind::weights, layer});
        if (trace_.half)
            for (double& weight : weights)
                weight = static_cast<double>(fromFloat16(toFloat16(static_cast<float>(weight))));
        return weights;
    }

    /// Some rows of a tensor, one after the other.
    Values rowsOf(const TensorId& id, const Indices& rows) const {
        const TracedTensor& tensor = traced(id);
        Values some;
        some.reserve(rows.size() * tensor.columns);
        for (const std::size_t row : rows)
            for (std::size_t column = 0; column < tensor.columns; ++column)
                some.push_back(static_cast<double>(tensor.values[row * tensor.columns + column]));
        return some;
    }

    TensorId savedOf(std::size_t layer) const {
        if (derivativeNeedsSum(job_.shape.activationOf(layer))) return {TensorKind::sums, layer};
        return {TensorKind::activations, layer + 1};
    }

    DenseShape shapeOf(std::size_t layer, std::size_t rows) const {
        const std::size_t inputs = job_.shape.widths[layer];
        const std::size_t outputs = job_.shape.widths[layer + 1];
        return {rows, inputs, outputs, inputs, outputs}; // traced tensors have no padding
    }

    /// Compares rows of a tensor with `expected` [rows][columns], whose values are sums of `length` products.
    void compare(const TensorId& id, const Values& expected, const Indices& rows, std::size_t length) {
        if (found_) return;
        const TracedTensor& tensor = traced(id);
        double largest = 1e-30;
        for (const double value : expected) largest = std::max(largest, std::abs(value));
        constexpr double halves = (1 + 1.13) / 2048; // as in engine/tune/kernel_trial.h
        const double rounding = 1e-5 * (1 + std::sqrt(static_cast<double>(length)));
        const double tolerance = (rounding + (storedAsHalves(id.kind) ? halves : 0)) * largest;
        Difference difference;
        for (std::size_t at = 0; at < expected.size(); ++at) {
            const std::size_t row = rows[at / tensor.columns];
            const std::size_t column = at % tensor.columns;
            const auto value = static_cast<double>(tensor.values[row * tensor.columns + column]);
            if (std::abs(value - expected[at]) <= tolerance) continue; // never true of NaN
            if (++difference.differing > 1) continue;
            difference.row = row;
            difference.column = column;
            difference.value = value;
            difference.expected = expected[at];
        }
        if (difference.differing == 0) return;
        difference.compared = expected.size();
        difference.tensor = name(id);
        note(found_, difference);
    }

    void note(std::optional<Difference>& into, Difference difference) const {
        difference.operation = titleOf(*operation_, job_.shape.layers());
        difference.source = operation_->source;
        into = std::move(difference);
    }

    void checkGather() {
        const Dataset& data = *job_.data;
        const std::size_t width = data.targetWidth;
        Values inputs(rows_ * data.inputs);
        std::vector<TargetWord> words(rows_ * width);
        plain::gatherBatch(data, data.train, order_, step_.batch, 0, rows_, data.inputs, inputs.data(),
                           words.data());
        compare({TensorKind::activations, 0}, inputs, allOf(rows_), 1);
        Values targets;
        const bool asValues = targetKind(data, job_.shape) == shared::targetValues;
        for (const TargetWord word : words)
            targets.push_back(asValues ? static_cast<double>(std::bit_cast<float>(word))
                                       : static_cast<double>(word));
        compare({TensorKind::targets, 0}, targets, allOf(rows_), 1);
    }

    void checkForward(std::size_t layer) {
        const DenseShape whole = shapeOf(layer, rows_);
        const Indices rows = someOf(rows_, whole.inputs * whole.outputs);
        const Values inputs = rowsOf({TensorKind::activations, layer}, rows);
        const Values weights = operandWeights(layer);
        const Values bias = values({TensorKind::bias, layer});
        const Activation activation = job_.shape.activationOf(layer);
        Values outputs(rows.size() * whole.outputs);
        Values sums(outputs.size());
        plain::dense(shapeOf(layer, rows.size()), inputs.data(), weights.data(), bias.data(), activation,
                     outputs.data(), sums.data());
        compare({TensorKind::activations, layer + 1}, outputs, rows, whole.inputs);
        if (derivativeNeedsSum(activation)) compare({TensorKind::sums, layer}, sums, rows, whole.inputs);
    }

    void checkLoss() {
        const std::size_t last = job_.shape.layers() - 1;
        const std::size_t outputs = job_.shape.outputs();
        const auto terms = static_cast<double>(lossTerms(job_.shape.loss, rows_, outputs));
        LossShape shape;
        shape.rows = rows_;
        shape.outputs = shape.stride = outputs;
        shape.loss = job_.shape.loss;
        shape.targetKind = targetKind(*job_.data, job_.shape);
        shape.targetWidth = job_.data->targetWidth;
        shape.outputActivation = job_.shape.outputActivation;
        shape.scale = 1 / terms;
        std::vector<TargetWord> words;
        for (const float target : traced({TensorKind::targets, 0}).values)
            words.push_back(shape.targetKind == shared::targetValues ? std::bit_cast<TargetWord>(target)
                                                                     : static_cast<TargetWord>(target));
        const Values answers = values({TensorKind::activations, last + 1});
        const Values saved = values(savedOf(last));
        Values dSums(rows_ * outputs);
        const double sum =
            plain::lossAndGradient(shape, answers.data(), saved.data(), words.data(), dSums.data());
        compare({TensorKind::dSums, last}, dSums, allOf(rows_), outputs);
        const double expected = sum / terms;
        const auto loss = static_cast<double>(trace_.loss);
        if (std::abs(loss - expected) <= 1e-4 * std::max(std::abs(expected), 1e-3)) return;
        Difference difference;
        difference.tensor = "the loss";
        difference.value = loss;
        difference.expected = expected;
        note(lossDifference_, difference);
    }

    void checkBackwardInputs(std::size_t layer) {
        const DenseShape whole = shapeOf(layer, rows_);
        const Indices rows = someOf(rows_, whole.inputs * whole.outputs);
        const Values dSums = rowsOf({TensorKind::dSums, layer}, rows);
        const Values weights = operandWeights(layer);
        const Values saved = rowsOf(savedOf(layer - 1), rows);
        Values below(rows.size() * whole.inputs);
        plain::denseBackwardInputs(shapeOf(layer, rows.size()), dSums.data(), weights.data(),
                                   job_.shape.activationOf(layer - 1), saved.data(), below.data());
        compare({TensorKind::dSums, layer - 1}, below, rows, whole.outputs);
    }

    void checkBackwardWeights(std::size_t layer) {
        const DenseShape whole = shapeOf(layer, rows_);
        const Indices neurons = someOf(whole.outputs, rows_ * whole.inputs);
        const std::vector<float>& all = traced({TensorKind::dSums, layer}).values;
        Values dSums;
        for (std::size_t row = 0; row < rows_; ++row)
            for (const std::size_t neuron : neurons)
                dSums.push_back(static_cast<double>(all[row * whole.outputs + neuron]));
        const Values inputs = values({TensorKind::activations, layer});
        Values weights(neurons.size() * whole.inputs);
        Values bias(neurons.size());
        const DenseShape some{rows_, whole.inputs, neurons.size(), whole.inputs, neurons.size()};
        plain::denseBackwardWeights(some, dSums.data(), inputs.data(), 0, neurons.size(), weights.data(),
                                    bias.data());
        if (foldsUpdate()) {
            checkFoldedUpdate(layer, neurons, weights, bias);
            return;
        }
        compare({TensorKind::dWeights, layer}, weights, neurons, rows_);
        compareBias(layer, bias, neurons);
    }

    // The operation at hand has no gradients to show: it uses them up.
    bool foldsUpdate() const {
        return std::ranges::find(operation_->writes, TensorKind::dWeights, &TensorId::kind) ==
               operation_->writes.end();
    }

    // What the optimizer makes of the gradients of some neurons: their weights, and all biases as a row of
    // which only theirs are compared.
    void checkFoldedUpdate(std::size_t layer, const Indices& neurons, const Values& weights,
                           const Values& bias) {
        const auto updatedOf = [&](TensorKind kind, TensorKind first, TensorKind second,
                                   const Values& gradients, const auto& rowsOfTensor) {
            Values parameters = rowsOfTensor(TensorId{kind, layer});
            const std::size_t states = job_.settings.optimizer.stateArrays();
            Values state1 = states > 0 ? rowsOfTensor(TensorId{first, layer}) : Values{};
            Values state2 = states > 1 ? rowsOfTensor(TensorId{second, layer}) : Values{};
            plain::update(job_.settings.optimizer.kind, step_.update, 0, parameters.size(), gradients.data(),
                          parameters.data(), states > 0 ? state1.data() : nullptr,
                          states > 1 ? state2.data() : nullptr);
            return parameters;
        };
        compare({TensorKind::weights, layer, true},
                updatedOf(TensorKind::weights, TensorKind::weightState1, TensorKind::weightState2, weights,
                          [&](const TensorId& id) { return rowsOf(id, neurons); }),
                neurons, rows_);
        const auto someOfRow = [&](const TensorId& id) {
            const Values row = values(id);
            Values some;
            for (const std::size_t neuron : neurons) some.push_back(row[neuron]);
            return some;
        };
        const Values updated =
            updatedOf(TensorKind::bias, TensorKind::biasState1, TensorKind::biasState2, bias, someOfRow);
        Values whole = values({TensorKind::bias, layer, true});
        for (std::size_t i = 0; i < neurons.size(); ++i) whole[neurons[i]] = updated[i];
        compare({TensorKind::bias, layer, true}, whole, {0}, rows_);
    }

    // A step of the plain rung from the same parameters and state.
    void checkWholeStep() {
        const ParamLayout layout(job_.shape);
        TrainerState state;
        state.step = trace_.step;
        const std::size_t states = job_.settings.optimizer.stateArrays();
        state.parameters.resize(layout.size());
        state.optimizerState.assign(states, std::vector<float>(layout.size()));
        for (std::size_t layer = 0; layer < job_.shape.layers(); ++layer) {
            place({TensorKind::weights, layer}, layout, state.parameters);
            place({TensorKind::bias, layer}, layout, state.parameters);
            if (states > 0) place({TensorKind::weightState1, layer}, layout, state.optimizerState[0]);
            if (states > 0) place({TensorKind::biasState1, layer}, layout, state.optimizerState[0]);
            if (states > 1) place({TensorKind::weightState2, layer}, layout, state.optimizerState[1]);
            if (states > 1) place({TensorKind::biasState2, layer}, layout, state.optimizerState[1]);
        }
        const auto plainTrainer = makeCpuTrainer(job_, "scalar", 1);
        plainTrainer->restore(state);
        const StepTrace expected = plainTrainer->traceStep({.tensors = true, .mostValues = layout.size()});
        for (const TensorId& id : operation_->writes) {
            const std::vector<float>& right = expected.tensors.at(id).values;
            compare(id, {right.begin(), right.end()}, allOf(traced(id).rows), rows_);
        }
    }

    // The tensor's values at their place in an arena.
    void place(const TensorId& id, const ParamLayout& layout, std::vector<float>& arena) const {
        const TracedTensor& tensor = traced(id);
        const LayerLayout& layer = layout.layer(id.layer);
        const bool bias =
            tensor.rows == 1 && (id.kind == TensorKind::bias || id.kind == TensorKind::biasState1 ||
                                 id.kind == TensorKind::biasState2);
        const std::size_t begin = bias ? layer.biasOffset : layer.weightOffset;
        const std::size_t stride = bias ? 0 : layer.rowStride;
        for (std::size_t row = 0; row < tensor.rows; ++row)
            for (std::size_t column = 0; column < tensor.columns; ++column)
                arena[begin + row * stride + column] = tensor.values[row * tensor.columns + column];
    }

    // One row, of which some columns were computed: as a column, it is compared like everything else.
    void compareBias(std::size_t layer, const Values& expected, const Indices& neurons) {
        const TensorId id{TensorKind::dBias, layer};
        const std::vector<float>& kept = traced(id).values;
        Values whole(kept.begin(), kept.end());
        for (std::size_t i = 0; i < neurons.size(); ++i) whole[neurons[i]] = expected[i];
        compare(id, whole, {0}, rows_);
    }

    void checkUpdate() {
        const std::size_t states = job_.settings.optimizer.stateArrays();
        for (std::size_t layer = 0; layer < job_.shape.layers(); ++layer) {
            checkUpdateOf(states, {TensorKind::dWeights, layer}, {TensorKind::weights, layer},
                          {TensorKind::weightState1, layer}, {TensorKind::weightState2, layer});
            checkUpdateOf(states, {TensorKind::dBias, layer}, {TensorKind::bias, layer},
                          {TensorKind::biasState1, layer}, {TensorKind::biasState2, layer});
        }
    }

    void checkUpdateOf(std::size_t states, const TensorId& gradient, const TensorId& parameter,
                       const TensorId& first, const TensorId& second) {
        const Values gradients = values(gradient);
        Values parameters = values(parameter);
        Values state1 = states > 0 ? values(first) : Values{};
        Values state2 = states > 1 ? values(second) : Values{};
        plain::update(job_.settings.optimizer.kind, step_.update, 0, parameters.size(), gradients.data(),
                      parameters.data(), states > 0 ? state1.data() : nullptr,
                      states > 1 ? state2.data() : nullptr);
        const auto compareUpdated = [this](TensorId id, const Values& expected) {
            id.updated = true;
            compare(id, expected, allOf(traced(id).rows), 1);
        };
        if (states > 0) compareUpdated(first, state1);
        if (states > 1) compareUpdated(second, state2);
        compareUpdated(parameter, parameters);
    }

    const TrainJob& job_;
    const StepTrace& trace_;
    const BatchOrder order_;
    const StepSettings step_;
    const std::size_t rows_;
    const TracedOperation* operation_ = nullptr;
    std::optional<Difference> found_;
    std::optional<Difference> lossDifference_; // said last: a wrong tensor tells more
};

} // namespace

std::string describe(const Difference& difference) {
    if (difference.compared == 0)
        return fmt::format("{}: {} is {:.6g}, expected {:.6g}", difference.operation, difference.tensor,
                           difference.value, difference.expected);
    return fmt::format("{}: {} is {:.6g} at row {}, column {}; expected {:.6g} ({} of {} values differ)",
                       difference.operation, difference.tensor, difference.value, difference.row,
                       difference.column, difference.expected, difference.differing, difference.compared);
}

std::optional<Difference> firstDifference(const TrainJob& job, const StepTrace& trace) {
    return Checker(job, trace).check();
}

} // namespace lockstep::demos
