#include "engine/run/double_trainer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/cpu/cpu_info.h"
#include "engine/net/float_formats.h"
#include "engine/net/plain_training.h"
#include "engine/run/trainer_base.h"

namespace lockstep {

namespace {

std::vector<float> narrowed(std::span<const double> values) {
    std::vector<float> all(values.size());
    std::ranges::transform(values, all.begin(), narrow);
    return all;
}

class DoubleTrainer final : public TrainerBase {
  public:
    explicit DoubleTrainer(const TrainJob& job)
        : TrainerBase(job), layout_(job.shape),
          network_(*job.data, job.shape, initialWeights(job.shape, job.settings.seed)) {
        network_.resize(order_.batch());
        machine_ = {.device = cpuName(), .threads = 1, .kernels = "plain loops in fp64"};
    }

    void run(std::uint64_t steps) override;
    void finish() override {}
    using TrainerBase::predict;
    std::vector<float> predict(std::span<const float> inputs) override {
        const std::size_t rows = job_.shape.rowsIn(inputs);
        const std::size_t width = job_.shape.outputs();
        std::vector<double> values(inputs.begin(), inputs.end());
        const std::vector<double> outputs = forward(
            withPadding<double>(values, job_.shape.inputs(), roundUpToFour(job_.shape.inputs())), rows);
        return withoutPadding(narrowed(outputs), width, roundUpToFour(width));
    }
    bool takeWeights(TrainedWeights& into) override {
        throwIfFailed();
        into = {completed_, parameters()};
        return true;
    }
    TrainerState state() override;
    void restore(const TrainerState& state) override;
    double deviceSeconds() const override { return trainingSeconds(); }
    std::vector<OperationTiming> operations() const override { return {}; }
    std::vector<MemoryUse> predictedMemory() const override;
    std::vector<MemoryUse> memory() const override;

  private:
    std::vector<float> parameters() override { return narrowed(network_.parameters); }
    ScoreSum score(Split split, std::vector<std::uint64_t>& confusion) override;
    StepPlan tracedPlan() const override { return trainStep(job_.shape); }
    std::vector<float> tensor(const TensorId&, std::size_t) override { refuseTrace(); }
    void runTraced(StepTrace&) override { refuseTrace(); }
    [[noreturn]] static void refuseTrace() {
        throw std::invalid_argument("a step in fp64 cannot be traced; trace one in fp32");
    }
    std::vector<double> forward(std::vector<double> values, std::size_t rows) const;

    const ParamLayout layout_;
    PlainNetwork<double> network_;
};

void DoubleTrainer::run(std::uint64_t steps) {
    const Stopwatch::Running running(training_);
    for (; steps > 0 && !failedStep_; --steps) {
        const StepSettings now = stepSettings(job_.settings, order_, completed_);
        const float loss = narrow(network_.lossAndGradients(order_, now.batch));
        if (!noteLoss({completed_, loss, trainingSeconds()})) return; // the parameters stay
        plain::update(job_.settings.optimizer.kind, now.update, 0, network_.parameters.size(),
                      network_.gradients.data(), network_.parameters.data(), network_.state1.data(),
                      network_.state2.data());
    }
}

/// `values` [rows][stride] are the inputs; returns the outputs, likewise.
std::vector<double> DoubleTrainer::forward(std::vector<double> values, std::size_t rows) const {
    for (std::size_t layer = 0; layer < layout_.layers(); ++layer) {
        const LayerLayout& place = layout_.layer(layer);
        const DenseShape shape = denseShapeOf(job_.shape, layer, rows);
        std::vector<double> outputs(rows * shape.outputStride);
        plain::dense<double>(shape, values.data(), network_.parameters.data() + place.weightOffset,
                             network_.parameters.data() + place.biasOffset, job_.shape.activationOf(layer),
                             outputs.data(), nullptr);
        values = std::move(outputs);
    }
    return values;
}

ScoreSum DoubleTrainer::score(Split split, std::vector<std::uint64_t>& confusion) {
    constexpr std::size_t most = 128; // rows at once: their activations stay in the caches
    const Dataset& data = *job_.data;
    const Examples& examples = data.of(split);
    const BatchOrder fileOrder(examples.count, examples.count, 0, false);
    const std::size_t stride = roundUpToFour(data.inputs);
    confusion.assign(data.classes * data.classes, 0);
    ScoreSum sum;
    for (std::size_t first = 0; first < examples.count; first += most) {
        const std::size_t rows = std::min(most, examples.count - first);
        std::vector<double> inputs(rows * stride);
        std::vector<TargetWord> targets(rows * data.targetWidth);
        plain::gatherBatch(data, examples, fileOrder, {0, first, rows}, 0, rows, stride, inputs.data(),
                           targets.data());
        const std::vector<double> outputs = forward(std::move(inputs), rows);
        const LossShape shape{.rows = rows,
                              .outputs = job_.shape.outputs(),
                              .stride = roundUpToFour(job_.shape.outputs()),
                              .targetWidth = data.targetWidth,
                              .loss = job_.shape.loss,
                              .targetKind = targetKind(data, job_.shape),
                              .outputActivation = job_.shape.outputActivation};
        const ScoreSum part = plain::score(shape, data.classes, outputs.data(), targets.data(),
                                           confusion.empty() ? nullptr : confusion.data());
        sum.loss += part.loss;
        sum.correct += part.correct;
    }
    return sum;
}

TrainerState DoubleTrainer::state() {
    TrainerState result;
    result.step = completed_;
    result.parameters = parameters();
    for (const auto* array : {&network_.state1, &network_.state2})
        if (result.optimizerState.size() < job_.settings.optimizer.stateArrays())
            result.optimizerState.push_back(narrowed(*array));
    return result;
}

void DoubleTrainer::restore(const TrainerState& state) {
    goOnFrom(state);
    network_.parameters.assign(state.parameters.begin(), state.parameters.end());
    std::vector<double>* const arrays[] = {&network_.state1, &network_.state2};
    for (std::size_t array = 0; array < state.optimizerState.size(); ++array)
        arrays[array]->assign(state.optimizerState[array].begin(), state.optimizerState[array].end());
}

MemoryUse onHost(MemoryCategory category, std::size_t doubles) {
    return {category, MemoryPlace::host, doubles * sizeof(double)};
}

/// The network's arrays; all optimizers have room for two arrays of state.
std::vector<MemoryUse> DoubleTrainer::predictedMemory() const {
    const std::size_t rows = order_.batch();
    std::size_t activations = rows * roundUpToFour(job_.shape.inputs());
    for (std::size_t layer = 0; layer < layout_.layers(); ++layer) // A, Z, dZ
        activations += 3 * rows * roundUpToFour(layout_.layer(layer).outputs);
    return {onHost(MemoryCategory::parameters, layout_.size()),
            onHost(MemoryCategory::gradients, layout_.size()),
            onHost(MemoryCategory::optimizer, 2 * layout_.size()),
            onHost(MemoryCategory::activations, activations)};
}

std::vector<MemoryUse> DoubleTrainer::memory() const {
    return {onHost(MemoryCategory::parameters, network_.parameters.size()),
            onHost(MemoryCategory::gradients, network_.gradients.size()),
            onHost(MemoryCategory::optimizer, network_.state1.size() + network_.state2.size()),
            onHost(MemoryCategory::activations, network_.batchNumbers())};
}

} // namespace

std::unique_ptr<Trainer> makeDoubleTrainer(const TrainJob& job) {
    job.validate();
    return std::make_unique<DoubleTrainer>(job);
}

} // namespace lockstep
