#include "demos/exhibits/inside/shader_trial.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "demos/exhibits/inside/operation_words.h"
#include "demos/words/language.h"
#include "demos/words/median.h"
#include "engine/net/param_layout.h"
#include "engine/run/make_trainer.h"

namespace lockstep::demos {

namespace {

struct Numbers {
    std::uint64_t seed;
    std::uint64_t drawn = 0;

    std::uint32_t word() { return randomWords(seed, RandomStream::test, drawn++).x; }
    float between(double low, double high) {
        return static_cast<float>(low + (high - low) * uniform01(word()));
    }
};

/// Data like others, of which an epoch is one whole batch and a smaller one.
Dataset randomData(const Dataset& like, std::size_t batch) {
    Numbers numbers{.seed = 1};
    Dataset data;
    data.name = "random numbers";
    data.inputs = like.inputs;
    data.classes = like.classes;
    data.classNames = like.classNames;
    data.targetWidth = like.targetWidth;
    Examples& train = data.train;
    train.count = batch + std::max<std::size_t>(1, batch / 3);
    for (std::size_t i = 0; i < train.count * data.inputs; ++i)
        if (like.bytes())
            train.pixels.push_back(static_cast<std::uint8_t>(1 + numbers.word() % 255));
        else
            train.values.push_back(numbers.between(-1, 1));
    for (std::size_t i = 0; i < train.count; ++i)
        if (like.classes > 0)
            train.labels.push_back(numbers.word() % static_cast<std::uint32_t>(like.classes));
    if (like.classes == 0)
        for (std::size_t i = 0; i < train.count * data.targetWidth; ++i)
            train.targets.push_back(numbers.between(-1, 1));
    return data;
}

/// Random parameters and optimizer's state of a job.
TrainerState randomState(const TrainJob& job, std::uint64_t step) {
    Numbers numbers{.seed = 2};
    const ParamLayout layout(job.shape);
    TrainerState state;
    state.step = step;
    // Padding stays 0, as everywhere.
    const auto filled = [&](bool parameters) {
        std::vector<float> arena(layout.size());
        for (std::size_t index = 0; index < layout.layers(); ++index) {
            const LayerLayout& layer = layout.layer(index);
            // The sums of a layer are about as large as its inputs.
            const double weight = parameters ? std::sqrt(6.0 / static_cast<double>(layer.inputs)) : 0.05;
            const double bias = parameters ? 0.5 : 0.05;
            for (std::size_t o = 0; o < layer.outputs; ++o) {
                for (std::size_t i = 0; i < layer.inputs; ++i)
                    arena[layer.weightOffset + o * layer.rowStride + i] =
                        numbers.between(parameters ? -weight : 0, weight);
                arena[layer.biasOffset + o] = numbers.between(parameters ? -bias : 0, bias);
            }
        }
        return arena;
    };
    state.parameters = filled(true);
    for (std::size_t i = 0; i < job.settings.optimizer.stateArrays(); ++i)
        state.optimizerState.push_back(filled(false)); // means of squares are not negative
    return state;
}

using Clock = std::chrono::steady_clock;

constexpr std::size_t mostValues = std::size_t{1} << 24; // of a tensor that is checked

/// All operations with changed shaders together: "2.1 ms, 43 GFLOP/s (built in: 1.2 ms, 75 GFLOP/s)".
std::string comparison(const std::vector<OperationTimes>& all) {
    double flops = 0;
    double builtIn = 0;
    double changed = 0;
    for (const OperationTimes& times : all) {
        flops += times.flops;
        builtIn += times.builtInMs;
        changed += times.changedMs;
    }
    if (changed <= 0) return "";
    return translatedFormat("{}, {} (built in: {}, {})", timeText(changed),
                            rateText(flops, changed, "FLOP/s"), timeText(builtIn),
                            rateText(flops, builtIn, "FLOP/s"));
}

/// A trial's way to its outcome. Errors leave it as exceptions.
struct Trial {
    const TrialRequest& request;
    TrialWatch& watch;
    TrialOutcome& outcome;
    const std::size_t batch = std::min(request.job.settings.batch, request.job.data->train.count);
    ReplacedShaders replaced{};

    void run() {
        replaced = compileForTrial(request.texts, changedShaders(request.texts, stepShaders()), watch,
                                   outcome.report);
        if (!outcome.report.errors.empty()) return;
        watch.enter(TrialPhase::checking);
        requireSize();
        outcome.device = openForTrial(request.device);
        if (!measureBuiltIn()) return;
        watch.enter(TrialPhase::checking);
        checkRandom();
        takeTrainer();
        outcome.report.verdict = Verdict::passed;
    }

    void requireSize() const {
        const std::size_t widest = *std::ranges::max_element(request.job.shape.widths);
        if (batch * widest > mostValues || widest * widest > mostValues)
            throw std::runtime_error(translatedFormat(
                "{} x {} numbers are too many to check; try a smaller batch or narrower layers", batch,
                widest));
    }

    /// False when nothing of the rung is made of the changed shaders.
    bool measureBuiltIn() {
        // With the same limits on loops and indices as the edited ones, which take time.
        ReplacedShaders limited;
        for (const auto& [shader, words] : replaced) {
            const std::span<const std::uint32_t> builtIn = shaderWords(shader);
            limited.emplace(shader, std::vector(builtIn.begin(), builtIn.end()));
        }
        const auto builtIn =
            makeGpuTrainer(request.job, request.rung, *outcome.device, limited, &watch.cancelled);
        const std::vector<TracedOperation> operations = medianOperations(*builtIn);
        std::string names;
        for (const auto& [shader, words] : replaced) names += (names.empty() ? "" : ", ") + shader;
        std::erase_if(replaced, [&](const auto& shader) {
            return std::ranges::find(operations, shader.first, &TracedOperation::source) == operations.end();
        });
        for (const TracedOperation& operation : operations)
            outcome.times.push_back(
                {operation.source, operation.layer, operation.flops, operation.milliseconds(), 0});
        if (!replaced.empty()) return true;
        outcome.report.verdict = Verdict::notUsed;
        outcome.report.message =
            translatedFormat("{} does not use {}; choose another GPU lane", rowOf(request.rung).lane, names);
        return false;
    }

    /// The next step of a trainer of the job is right.
    void require(const TrainJob& job, Trainer& trainer) const {
        const StepTrace trace = trainer.traceStep({.tensors = true, .mostValues = mostValues});
        const std::optional<Difference> difference = firstDifference(job, trace);
        if (!difference) return;
        const bool own = replaced.contains(difference->source) || difference->ofLoss;
        throw std::runtime_error(
            own ? difference->text
                : translatedFormat("{}. That shader is unmodified: an edited one overwrites its data",
                                   difference->text));
    }

    // Random numbers everywhere: data have corners that are always 0, and first biases often are.
    void checkRandom() {
        const Dataset data = randomData(*request.job.data, batch);
        TrainJob job = request.job;
        job.settings.batch = batch;
        job.data = &data;
        const auto trainer = makeGpuTrainer(job, request.rung, *outcome.device, replaced, &watch.cancelled);
        const std::uint64_t epoch = job.order().stepsPerEpoch();
        for (const std::uint64_t step : {epoch, 2 * epoch - 1}) {
            watch.enter(TrialPhase::checking);
            trainer->restore(randomState(job, step));
            require(job, *trainer);
        }
    }

    void takeTrainer() {
        auto trainer = makeGpuTrainer(request.job, request.rung, *outcome.device, replaced, &watch.cancelled);
        require(request.job, *trainer);
        watch.enter(TrialPhase::timing);
        const std::vector<TracedOperation> operations = medianOperations(*trainer);
        for (std::size_t i = 0; i < std::min(operations.size(), outcome.times.size()); ++i)
            outcome.times[i].changedMs = operations[i].milliseconds();
        std::erase_if(outcome.times,
                      [this](const OperationTimes& times) { return !replaced.contains(times.source); });
        outcome.report.timing = comparison(outcome.times);
        outcome.trainer = std::move(trainer);
    }

    /// A step's operations; each lasts from 0 to the median of as many steps as a second has room for.
    std::vector<TracedOperation> medianOperations(Trainer& trainer) {
        constexpr std::size_t most = 9;
        constexpr auto enough = std::chrono::seconds(1);
        trainer.run(1);
        const Clock::time_point start = Clock::now();
        std::vector<StepTrace> traces;
        do {
            watch.enter(watch.phase);
            traces.push_back(trainer.traceStep({.tensors = false}));
        } while (traces.size() < most && Clock::now() - start < enough);
        std::vector<TracedOperation> operations = traces.front().operations;
        for (std::size_t at = 0; at < operations.size(); ++at) {
            std::vector<double> times(traces.size());
            std::ranges::transform(traces, times.begin(), [&](const StepTrace& trace) {
                return trace.operations.at(at).milliseconds();
            });
            operations[at].beginMs = 0;
            operations[at].endMs = median(std::move(times));
        }
        return operations;
    }
};

} // namespace

TrialOutcome tryShaders(const TrialRequest& request, TrialWatch& watch) {
    TrialOutcome outcome;
    runTrial(outcome.report, [&] { Trial{request, watch, outcome}.run(); });
    if (!outcome.report.passed()) {
        outcome.trainer.reset();
        outcome.device.reset();
    }
    return outcome;
}

} // namespace lockstep::demos
