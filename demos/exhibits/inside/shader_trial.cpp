#include "demos/exhibits/inside/shader_trial.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

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

struct Cancelled {};

std::vector<std::string> changedShaders(const ShaderTexts& texts) {
    std::vector<std::string> shaders;
    for (const std::string& shader : stepShaders()) {
        const std::vector<std::string> files = withIncludes(texts, shader + ".comp");
        const auto changed = [&](const std::string& file) { return texts.contains(file); };
        if (std::ranges::any_of(files, changed)) shaders.push_back(shader);
    }
    return shaders;
}

/// A trial's way to its outcome. Errors leave it as exceptions.
struct Trial {
    const TrialRequest& request;
    TrialWatch& watch;
    TrialOutcome& outcome;
    const std::size_t batch = std::min(request.job.settings.batch, request.job.data->train.count);
    ReplacedShaders replaced{};

    void run() {
        if (!compile()) return;
        enter(TrialPhase::checking);
        requireSize();
        gpu::DeviceOptions options = request.device;
        options.robust = true;
        outcome.device = std::make_unique<gpu::Device>(std::move(options));
        if (!measureBuiltIn()) return;
        enter(TrialPhase::checking);
        checkRandom();
        takeTrainer();
        outcome.report.verdict = Verdict::passed;
    }

    void enter(TrialPhase phase) {
        if (watch.cancelled) throw Cancelled{};
        watch.phase = phase;
    }

    bool compile() {
        for (const std::string& shader : changedShaders(request.texts)) {
            enter(TrialPhase::compiling);
            CompiledShader compiled = compileShader(shader, request.texts);
            for (const CompileError& error : compiled.errors)
                if (std::ranges::find(outcome.report.errors, error) == outcome.report.errors.end())
                    outcome.report.errors.push_back(error);
            replaced.emplace(shader, std::move(compiled.words));
        }
        if (!outcome.report.errors.empty()) outcome.report.verdict = Verdict::notCompiled;
        return outcome.report.errors.empty();
    }

    void requireSize() const {
        const std::size_t widest = *std::ranges::max_element(request.job.shape.widths);
        if (batch * widest > mostValues || widest * widest > mostValues)
            throw std::runtime_error(
                fmt::format("{} x {} numbers are too many to check; try a smaller batch or narrower layers",
                            batch, widest));
    }

    /// False when nothing of the rung is made of the changed shaders.
    bool measureBuiltIn() {
        const auto builtIn = makeGpuTrainer(request.job, request.rung, *outcome.device);
        const std::vector<TracedOperation> operations = medianOperations(*builtIn);
        std::string names;
        for (const auto& [shader, words] : replaced) names += (names.empty() ? "" : ", ") + shader;
        std::erase_if(replaced, [&](const auto& shader) {
            return std::ranges::find(operations, shader.first, &TracedOperation::source) == operations.end();
        });
        for (const TracedOperation& operation : operations)
            outcome.report.times.push_back(
                {operation.source, operation.layer, operation.flops, operation.milliseconds(), 0});
        if (!replaced.empty()) return true;
        outcome.report.verdict = Verdict::notUsed;
        outcome.report.message =
            fmt::format("{} does not use {}; choose another GPU lane", rowOf(request.rung).lane, names);
        return false;
    }

    /// The next step of a trainer of the job is right.
    void require(const TrainJob& job, Trainer& trainer) const {
        const StepTrace trace = trainer.traceStep({.tensors = true, .mostValues = mostValues});
        const std::optional<Difference> difference = firstDifference(job, trace);
        if (!difference) return;
        const bool own = replaced.contains(difference->source) || difference->ofLoss;
        throw std::runtime_error(
            difference->text + (own ? "" : ". That shader is unmodified: an edited one overwrites its data"));
    }

    // Random numbers everywhere: data have corners that are always 0, and first biases often are.
    void checkRandom() {
        const Dataset data = randomData(*request.job.data, batch);
        TrainJob job = request.job;
        job.settings.batch = batch;
        job.data = &data;
        const auto trainer = makeGpuTrainer(job, request.rung, *outcome.device, replaced);
        const std::uint64_t epoch = job.order().stepsPerEpoch();
        for (const std::uint64_t step : {epoch, 2 * epoch - 1}) {
            enter(TrialPhase::checking);
            trainer->restore(randomState(job, step));
            require(job, *trainer);
        }
    }

    void takeTrainer() {
        auto trainer = makeGpuTrainer(request.job, request.rung, *outcome.device, replaced);
        require(request.job, *trainer);
        enter(TrialPhase::timing);
        const std::vector<TracedOperation> operations = medianOperations(*trainer);
        for (std::size_t i = 0; i < std::min(operations.size(), outcome.report.times.size()); ++i)
            outcome.report.times[i].changedMs = operations[i].milliseconds();
        std::erase_if(outcome.report.times,
                      [this](const OperationTimes& times) { return !replaced.contains(times.source); });
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
            enter(watch.phase);
            traces.push_back(trainer.traceStep({.tensors = false}));
        } while (traces.size() < most && Clock::now() - start < enough);
        const auto middle = static_cast<std::ptrdiff_t>(traces.size() / 2);
        std::vector<TracedOperation> operations = traces.front().operations;
        for (std::size_t at = 0; at < operations.size(); ++at) {
            std::vector<double> times(traces.size());
            std::ranges::transform(traces, times.begin(), [&](const StepTrace& trace) {
                return trace.operations.at(at).milliseconds();
            });
            std::ranges::nth_element(times, times.begin() + middle);
            operations[at].beginMs = 0;
            operations[at].endMs = times[traces.size() / 2];
        }
        return operations;
    }
};

} // namespace

TrialOutcome tryShaders(const TrialRequest& request, TrialWatch& watch) {
    const Clock::time_point start = Clock::now();
    TrialOutcome outcome;
    try {
        Trial{request, watch, outcome}.run();
    } catch (const Cancelled&) {
        outcome.report.message = "cancelled";
    } catch (const NonFiniteError& error) {
        outcome.report.message = fmt::format("the loss is no longer finite at step {}", error.step);
    } catch (const std::exception& error) {
        outcome.report.message = error.what();
    }
    if (outcome.report.verdict != Verdict::passed) {
        outcome.trainer.reset();
        outcome.device.reset();
    }
    outcome.report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return outcome;
}

} // namespace lockstep::demos
