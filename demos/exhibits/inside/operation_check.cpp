#include "demos/exhibits/inside/shader_trial.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "demos/exhibits/inside/operation_words.h"
#include "demos/words/language.h"
#include "engine/net/activation.h"
#include "engine/net/float_formats.h"
#include "engine/net/param_layout.h"
#include "engine/net/plain_ops.h"
#include "engine/run/make_trainer.h"

namespace lockstep::demos {

namespace {

using Values = std::vector<double>;
using Indices = std::vector<std::size_t>;

constexpr std::size_t mostProducts = 30'000'000; // of one operation: a tenth of a second for the plain loops

/// At most as many of `count` as fit, evenly spaced, the first and the last among them.
Indices someOf(std::size_t count, std::size_t productsOfOne) {
    const std::size_t few = std::min<std::size_t>(count, 4);
    const std::size_t many = std::clamp(mostProducts / std::max<std::size_t>(productsOfOne, 1), few, count);
    Indices chosen(many);
    for (std::size_t i = 0; i < many; ++i) chosen[i] = many == 1 ? 0 : i * (count - 1) / (many - 1);
    return chosen;
}

/// What the optimizer changes in a layer: its weights or its biases.
struct Learned {
    TensorKind gradient;
    TensorKind kept[3]; // the parameters, and the optimizer's states
};

constexpr Learned learnedWeights{TensorKind::dWeights,
                                 {TensorKind::weights, TensorKind::weightState1, TensorKind::weightState2}};
constexpr Learned learnedBiases{TensorKind::dBias,
                                {TensorKind::bias, TensorKind::biasState1, TensorKind::biasState2}};

class Checker {
  public:
    Checker(const TrainJob& job, const StepTrace& trace)
        : job_(job), trace_(trace), order_(job.order()),
          step_(stepSettings(job.settings, order_, trace.step)), rows_(step_.batch.rows),
          states_(job.settings.optimizer.stateArrays()) {}

    std::optional<Difference> check() {
        for (const TracedOperation& operation : trace_.operations) {
            operation_ = &operation;
            const Operation kind = operation.shownAs();
            if (operation.writes.empty()) continue; // the sum of groups, what scales the loss
            if (trace_.skipped && kind != Operation::gatherBatch && kind != Operation::dense)
                continue; // beyond what halves can say, and nothing was learned from it
            switch (kind) {
            case Operation::gatherBatch: checkGather(); break;
            case Operation::dense: checkForward(operation.layer); break;
            case Operation::lossAndGradient: checkLoss(); break;
            case Operation::denseBackwardInputs: checkBackwardInputs(operation.layer); break;
            case Operation::denseBackwardWeights: checkBackwardWeights(operation.layer); break;
            case Operation::update: checkUpdate(); break;
            case Operation::wholeStep: checkWholeStep(); break;
            default: throw std::logic_error("an operation that cannot be checked");
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

    DenseShape shapeOf(std::size_t layer, std::size_t rows) const {
        const std::size_t inputs = job_.shape.widths[layer];
        const std::size_t outputs = job_.shape.widths[layer + 1];
        return {rows, inputs, outputs, inputs, outputs}; // traced tensors have no padding
    }

    std::string title() const { return titleOf(*operation_, job_.shape.layers()); }

    /// Compares a tensor, or `rows` of it, with `expected` [rows][columns], whose values are sums of `length`
    /// products.
    void compare(const TensorId& id, const Values& expected, std::size_t length, const Indices& rows = {}) {
        if (found_) return;
        const TracedTensor& tensor = traced(id);
        double largest = 1e-30;
        for (const double value : expected) largest = std::max(largest, std::abs(value));
        constexpr double halves = (1 + 1.13) / 2048; // as in engine/tune/kernel_trial.h
        const double rounding = 1e-5 * (1 + std::sqrt(static_cast<double>(length)));
        const bool asHalves = trace_.half && (id.kind == TensorKind::activations ||
                                              id.kind == TensorKind::sums || id.kind == TensorKind::dSums);
        const double tolerance = (rounding + (asHalves ? halves : 0)) * largest;
        const auto rowAt = [&](std::size_t at) {
            return rows.empty() ? at / tensor.columns : rows[at / tensor.columns];
        };
        const auto valueAt = [&](std::size_t at) {
            return static_cast<double>(tensor.values[rowAt(at) * tensor.columns + at % tensor.columns]);
        };
        std::size_t differing = 0;
        std::size_t first = 0;
        for (std::size_t at = 0; at < expected.size(); ++at) {
            if (std::abs(valueAt(at) - expected[at]) <= tolerance) continue; // never true of NaN
            if (differing++ == 0) first = at;
        }
        if (differing == 0) return;
        found_ =
            Difference{operation_->source, false,
                       translatedFormat("{}: {} is {:.6g} at row {}, column {}; expected {:.6g} "
                                        "({} of {} values differ)",
                                        title(), name(id), valueAt(first), rowAt(first),
                                        first % tensor.columns, expected[first], differing, expected.size())};
    }

    /// The same of some columns of a tensor that is a single row.
    void compareColumns(const TensorId& id, const Values& expected, const Indices& columns) {
        Values whole = values(id);
        for (std::size_t i = 0; i < columns.size(); ++i) whole[columns[i]] = expected[i];
        compare(id, whole, rows_);
    }

    void checkGather() {
        const Dataset& data = *job_.data;
        const std::size_t width = data.targetWidth;
        Values inputs(rows_ * data.inputs);
        std::vector<TargetWord> words(rows_ * width);
        plain::gatherBatch(data, data.train, order_, step_.batch, 0, rows_, data.inputs, inputs.data(),
                           words.data());
        compare({TensorKind::activations, 0}, inputs, 1);
        Values targets;
        const bool asValues = targetKind(data, job_.shape) == shared::targetValues;
        for (const TargetWord word : words)
            targets.push_back(asValues ? static_cast<double>(std::bit_cast<float>(word))
                                       : static_cast<double>(word));
        compare({TensorKind::targets, 0}, targets, 1);
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
        compare({TensorKind::activations, layer + 1}, outputs, whole.inputs, rows);
        if (derivativeNeedsSum(activation)) compare({TensorKind::sums, layer}, sums, whole.inputs, rows);
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
        const Values saved = values(savedOf(job_.shape, last));
        Values dSums(rows_ * outputs);
        const double sum =
            plain::lossAndGradient(shape, answers.data(), saved.data(), words.data(), dSums.data());
        compare({TensorKind::dSums, last}, dSums, outputs);
        const double expected = sum / terms;
        const auto loss = static_cast<double>(trace_.loss);
        if (std::abs(loss - expected) <= 1e-4 * std::max(std::abs(expected), 1e-3)) return;
        lossDifference_ =
            Difference{operation_->source, true,
                       translatedFormat("{}: the loss is {:.6g}, expected {:.6g}", title(), loss, expected)};
    }

    void checkBackwardInputs(std::size_t layer) {
        const DenseShape whole = shapeOf(layer, rows_);
        const Indices rows = someOf(rows_, whole.inputs * whole.outputs);
        const Values dSums = rowsOf({TensorKind::dSums, layer}, rows);
        const Values weights = operandWeights(layer);
        const Values saved = rowsOf(savedOf(job_.shape, layer - 1), rows);
        Values below(rows.size() * whole.inputs);
        plain::denseBackwardInputs(shapeOf(layer, rows.size()), dSums.data(), weights.data(),
                                   job_.shape.activationOf(layer - 1), saved.data(), below.data());
        compare({TensorKind::dSums, layer - 1}, below, whole.outputs, rows);
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
        if (operation_->operation == Operation::denseBackwardWeightsAndUpdate) { // they are used up at once
            checkFoldedUpdate(layer, neurons, weights, bias);
            return;
        }
        compare({TensorKind::dWeights, layer}, weights, rows_, neurons);
        compareColumns({TensorKind::dBias, layer}, bias, neurons);
    }

    /// Parameters and states after the update, `pick` being what is taken of their tensors.
    template <class Pick>
    std::array<Values, 3> updated(const Learned& learned, std::size_t layer, const Values& gradients,
                                  Pick pick) const {
        std::array<Values, 3> kept;
        for (std::size_t i = 0; i <= states_; ++i) kept[i] = pick(TensorId{learned.kept[i], layer});
        plain::update(job_.settings.optimizer.kind, step_.update, 0, kept[0].size(), gradients.data(),
                      kept[0].data(), kept[1].data(), kept[2].data());
        return kept;
    }

    // What the optimizer makes of the gradients of some neurons.
    void checkFoldedUpdate(std::size_t layer, const Indices& neurons, const Values& weights,
                           const Values& bias) {
        const auto rows = [&](const TensorId& id) { return rowsOf(id, neurons); };
        const auto columns = [&](const TensorId& id) {
            const Values row = values(id);
            Values some;
            for (const std::size_t neuron : neurons) some.push_back(row[neuron]);
            return some;
        };
        compare({TensorKind::weights, layer, true}, updated(learnedWeights, layer, weights, rows)[0], rows_,
                neurons);
        compareColumns({TensorKind::bias, layer, true}, updated(learnedBiases, layer, bias, columns)[0],
                       neurons);
    }

    // A step of the plain rung from the same parameters and state.
    void checkWholeStep() {
        const ParamLayout layout(job_.shape);
        TrainerState state;
        state.step = trace_.step;
        state.parameters.resize(layout.size());
        state.optimizerState.assign(states_, std::vector<float>(layout.size()));
        for (std::size_t layer = 0; layer < job_.shape.layers(); ++layer)
            for (std::size_t i = 0; i <= states_; ++i) {
                std::vector<float>& arena = i == 0 ? state.parameters : state.optimizerState[i - 1];
                const LayerLayout& place = layout.layer(layer);
                copy({learnedWeights.kept[i], layer}, place.weightOffset, place.rowStride, arena);
                copy({learnedBiases.kept[i], layer}, place.biasOffset, 0, arena);
            }
        const auto plainTrainer = makeCpuTrainer(job_, Rung::scalar, 1);
        plainTrainer->restore(state);
        const StepTrace expected = plainTrainer->traceStep({.tensors = true, .mostValues = layout.size()});
        for (const TensorId& id : operation_->writes) {
            const std::vector<float>& right = expected.tensors.at(id).values;
            compare(id, {right.begin(), right.end()}, rows_);
        }
    }

    void copy(const TensorId& id, std::size_t begin, std::size_t stride, std::vector<float>& arena) const {
        const TracedTensor& tensor = traced(id);
        for (std::size_t row = 0; row < tensor.rows; ++row)
            for (std::size_t column = 0; column < tensor.columns; ++column)
                arena[begin + row * stride + column] = tensor.values[row * tensor.columns + column];
    }

    void checkUpdate() {
        for (std::size_t layer = 0; layer < job_.shape.layers(); ++layer)
            for (const Learned& learned : {learnedWeights, learnedBiases}) {
                const auto expected = updated(learned, layer, values({learned.gradient, layer}),
                                              [this](const TensorId& id) { return values(id); });
                for (const std::size_t i : {std::size_t{1}, std::size_t{2}, std::size_t{0}}) {
                    if (i > states_) continue;
                    compare({learned.kept[i], layer, true}, expected[i], 1);
                }
            }
    }

    const TrainJob& job_;
    const StepTrace& trace_;
    const BatchOrder order_;
    const StepSettings step_;
    const std::size_t rows_;
    const std::size_t states_; // arrays that the optimizer keeps
    const TracedOperation* operation_ = nullptr;
    std::optional<Difference> found_;
    std::optional<Difference> lossDifference_; // said last: a wrong tensor tells more
};

} // namespace

std::optional<Difference> firstDifference(const TrainJob& job, const StepTrace& trace) {
    return Checker(job, trace).check();
}

} // namespace lockstep::demos
