// Training on the processor.
#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "engine/cpu/cpu_info.h"
#include "engine/cpu/memory.h"
#include "engine/cpu/thread_team.h"
#include "engine/net/names.h"
#include "engine/run/make_trainer.h"
#include "engine/run/team_sizing.h"
#include "engine/step/cpu_ops.h"
#include "engine/step/small_ops.h"
#include "engine/step/step_trace.h"

namespace lockstep {

namespace {

using Clock = std::chrono::steady_clock;

class CpuTrainer final : public Trainer {
  public:
    /// `small` may be null: how a network that fits SmallOps is trained, by one thread.
    CpuTrainer(const TrainJob& job, const CpuKernels& kernels, std::size_t threads,
               const SmallKernels* small);

    const MachineInfo& machine() const override { return machine_; }
    void run(std::uint64_t steps) override;
    void finish() override {}
    std::uint64_t completedSteps() override;
    void takeLosses(std::vector<LossPoint>& into) override;
    Evaluation evaluate(Split split) override;
    std::vector<float> predict(Split split, std::size_t first, std::size_t rows) override;
    TrainerState state() override;
    void restore(const TrainerState& state) override;
    void setOptimizer(const OptimizerSettings& settings) override;
    double trainingSeconds() const override { return trainingSeconds_; }
    double deviceSeconds() const override { return trainingSeconds_; }
    double warmUpSeconds() const override { return warmUpSeconds_; }
    std::vector<OperationTiming> operations() const override { return timing_.timings(); }
    StepTrace traceStep(const TraceOptions& options) override;

  private:
    void describeMachine();
    void warmUp();
    template <class Work> void runTeam(std::size_t threads, const Work& work);
    void runChunk(std::uint64_t steps, std::size_t threads, Clock::time_point start);
    void marchThrough(std::size_t thread, std::uint64_t steps, Clock::time_point start);
    void noteLoss(const LossPoint& point, Clock::time_point start);
    void timeLosses(Clock::time_point start);
    void throwIfFailed();
    void traceOn(std::size_t thread, const StepSettings& step, StepTrace& trace);
    std::vector<float> tensor(const TensorId& id, std::size_t floats);

    TrainJob job_;
    CpuArenas arenas_;
    ThreadTeam team_;
    TeamSizing sizing_;
    CpuTiming timing_;
    std::vector<std::unique_ptr<CpuBackend>> ops_; ///< one per thread
    const bool small_;
    MachineInfo machine_;

    std::uint64_t step_ = 0; ///< steps done
    bool failed_ = false;    ///< step `step_` had a loss that is not finite
    std::optional<NonFiniteError> error_;
    std::vector<LossPoint> losses_;     ///< not yet taken
    std::size_t lossesWithoutTime_ = 0; ///< the last ones of them
    std::size_t stepsPerClock_ = 1; ///< a small network takes as long for a layer as reading the clock takes
    double trainingSeconds_ = 0;
    double warmUpSeconds_ = 0;
};

CpuTrainer::CpuTrainer(const TrainJob& job, const CpuKernels& kernels, std::size_t threads,
                       const SmallKernels* small)
    : job_(job), arenas_(job, kernels, threads), team_(threads), sizing_(threads), small_(small != nullptr) {
    if (small_) {
        timing_.setPeriod(256);
        stepsPerClock_ = 8;
        ops_.push_back(std::make_unique<SmallOps>(arenas_, *small, timing_));
    }
    for (std::size_t thread = 0; !small_ && thread < threads; ++thread)
        ops_.push_back(std::make_unique<CpuOps>(arenas_, team_, thread == 0 ? &timing_ : nullptr));
    describeMachine();
    warmUp();
}

void CpuTrainer::describeMachine() {
    machine_.device = cpuName();
    machine_.threads = team_.size();
    machine_.kernels = small_
                           ? std::string("own kernels for small networks, ") + lockstep::name(vectorLevel())
                           : describeKernels(arenas_.kernels);
    if (arenas_.foldsUpdate)
        machine_.kernels += ", update folded into the weight gradient (gradients are not kept)";
}

/// One step, undone again: libraries compile their kernels, and every page of the arenas is touched.
void CpuTrainer::warmUp() {
    const Clock::time_point start = Clock::now();
    const Examples& examples = job_.data->train;
    preferHugePages(examples.pixels.data(), examples.pixels.size());
    preferHugePages(examples.values.data(), examples.values.size() * sizeof(float));
    preferHugePages(arenas_.parameters.data(), arenas_.parameters.size() * sizeof(float));
    const TrainerState initial = state();
    runChunk(1, team_.size(), start);
    restore(initial);
    timing_.clear();
    warmUpSeconds_ = secondsSince(start);
}

void CpuTrainer::run(std::uint64_t steps) {
    const Clock::time_point start = Clock::now();
    double passed = 0;
    while (steps > 0 && !failed_) {
        const TeamSizing::Stretch stretch = sizing_.next();
        const std::uint64_t now = std::min(steps, stretch.steps);
        runChunk(now, stretch.threads, start);
        const double after = secondsSince(start);
        sizing_.took(now, after - passed);
        passed = after;
        steps -= now;
    }
    trainingSeconds_ += secondsSince(start);
}

/// The first `threads` threads share all parts of what `work` does.
template <class Work> void CpuTrainer::runTeam(std::size_t threads, const Work& work) {
    for (std::size_t thread = 0; thread < threads; ++thread)
        ops_[thread]->takeParts(shareOf(team_.size(), thread, threads));
    team_.run(work, threads);
}

void CpuTrainer::runChunk(std::uint64_t steps, std::size_t threads, Clock::time_point start) {
    // Beforehand, because threads at work must not throw; and ahead, because stretches are short.
    if (losses_.capacity() < losses_.size() + steps)
        losses_.reserve(std::max(2 * losses_.capacity(), losses_.size() + steps));
    const std::size_t before = losses_.size();
    runTeam(threads, [&](std::size_t thread) { marchThrough(thread, steps, start); });
    step_ += losses_.size() - before;
    failed_ = ops_[0]->failed();
}

/// What every thread does. The loss of a step is the same on all of them, so they stop at the same step.
void CpuTrainer::marchThrough(std::size_t thread, std::uint64_t steps, Clock::time_point start) {
    CpuBackend& ops = *ops_[thread];
    for (std::uint64_t step = step_; steps > 0; ++step, --steps) {
        if (thread == 0) timing_.beginStep(step);
        trainStep(ops, arenas_.shape, stepSettings(job_.settings, arenas_.order, step));
        ops.endStep();
        if (ops.failed()) break;
        if (thread == 0) noteLoss({step, ops.loss()}, start);
    }
    if (thread != 0) return;
    timing_.endSteps();
    timeLosses(start);
}

void CpuTrainer::noteLoss(const LossPoint& point, Clock::time_point start) {
    losses_.push_back(point);
    if (++lossesWithoutTime_ == stepsPerClock_) timeLosses(start);
}

void CpuTrainer::timeLosses(Clock::time_point start) {
    const double seconds = trainingSeconds_ + secondsSince(start);
    for (; lossesWithoutTime_ > 0; --lossesWithoutTime_)
        losses_[losses_.size() - lossesWithoutTime_].seconds = seconds;
}

void CpuTrainer::throwIfFailed() {
    if (!failed_) return;
    if (!error_) error_ = explainNonFinite(job_, step_, arenas_.parameters.span());
    throw NonFiniteError(*error_);
}

std::uint64_t CpuTrainer::completedSteps() {
    throwIfFailed();
    return step_;
}

void CpuTrainer::takeLosses(std::vector<LossPoint>& into) {
    into.insert(into.end(), losses_.begin(), losses_.end());
    losses_.clear();
    throwIfFailed();
}

Evaluation CpuTrainer::evaluate(Split split) {
    const std::size_t count = job_.data->of(split).count;
    const std::size_t capacity = ops_[0]->capacity();
    for (const auto& ops : ops_) ops->beginEvaluation(job_.data->classes);
    runTeam(team_.size(), [&](std::size_t thread) {
        for (std::size_t first = 0; first < count; first += capacity)
            scoreRange(*ops_[thread], arenas_.shape, split, first, std::min(capacity, count - first));
    });

    ScoreSum sum;
    Evaluation result;
    result.count = count;
    result.confusion.assign(ops_[0]->confusion().size(), 0);
    for (const auto& ops : ops_) {
        sum.loss += ops->scored().loss;
        sum.correct += ops->scored().correct;
        std::ranges::transform(result.confusion, ops->confusion(), result.confusion.begin(), std::plus<>());
    }
    const std::size_t terms = lossTerms(arenas_.shape.loss, count, arenas_.shape.outputs());
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    result.loss = count == 0 ? unknown : sum.loss / static_cast<double>(terms);
    const bool answers = count > 0 && job_.data->classes > 0;
    result.accuracy = answers ? static_cast<double>(sum.correct) / static_cast<double>(count) : unknown;
    return result;
}

std::vector<float> CpuTrainer::predict(Split split, std::size_t first, std::size_t rows) {
    requireRows(job_.data->of(split), first, rows);
    const std::size_t outputs = arenas_.shape.outputs();
    const std::size_t capacity = ops_[0]->capacity();
    std::vector<float> result(rows * outputs);
    runTeam(team_.size(), [&](std::size_t thread) {
        CpuBackend& ops = *ops_[thread];
        for (std::size_t done = 0; done < rows; done += capacity) {
            ops.gatherRange(split, first + done, std::min(capacity, rows - done));
            for (std::size_t layer = 0; layer < arenas_.shape.layers(); ++layer) ops.dense(layer);
            ops.copyOutputs(result.data() + (done + ops.ownRows().begin) * outputs);
        }
    });
    return result;
}

TrainerState CpuTrainer::state() {
    const auto copy = [](const AlignedArray<float>& from) {
        return std::vector<float>(from.data(), from.data() + from.size());
    };
    TrainerState result;
    result.step = step_;
    result.parameters = copy(arenas_.parameters);
    for (const AlignedArray<float>& array : arenas_.optimizerState)
        result.optimizerState.push_back(copy(array));
    return result;
}

void CpuTrainer::restore(const TrainerState& state) {
    requireState(state, arenas_.layout.size(), arenas_.optimizerState.size());
    std::ranges::copy(state.parameters, arenas_.parameters.data());
    for (std::size_t array = 0; array < state.optimizerState.size(); ++array)
        std::ranges::copy(state.optimizerState[array], arenas_.optimizerState[array].data());
    step_ = state.step;
    failed_ = false;
    error_.reset();
    losses_.clear();
}

void CpuTrainer::setOptimizer(const OptimizerSettings& settings) {
    requireSameOptimizer(job_.settings.optimizer, settings);
    arenas_.setOptimizer(settings);
    job_.settings.optimizer = settings;
    describeMachine();
}

StepTrace CpuTrainer::traceStep(const TraceOptions& options) {
    throwIfFailed();
    const StepSettings step = stepSettings(job_.settings, arenas_.order, step_);
    const StepTracer tracer(job_, step.batch.rows, arenas_.targetKind, arenas_.foldsUpdate);
    const auto source = [this](const TensorId& id, std::size_t floats) { return tensor(id, floats); };
    StepTrace trace;
    trace.step = step_;
    trace.machine = machine_;
    tracer.keepBefore(options, source, trace);

    const Clock::time_point start = Clock::now();
    runTeam(team_.size(), [&](std::size_t thread) { traceOn(thread, step, trace); });
    const double seconds = secondsSince(start);
    trace.wallMs = seconds * 1e3;
    trainingSeconds_ += seconds;
    failed_ = ops_[0]->failed();
    throwIfFailed();
    trace.loss = ops_[0]->loss();
    losses_.push_back({step_, trace.loss, trainingSeconds_});
    ++step_;

    for (TracedOperation& operation : trace.operations) tracer.describe(operation);
    tracer.keepAfter(options, source, trace);
    return trace;
}

/// What every thread does in a traced step. All are awake before the clock starts.
void CpuTrainer::traceOn(std::size_t thread, const StepSettings& step, StepTrace& trace) {
    team_.barrier();
    if (thread == 0) timing_.beginTrace();
    trainStep(*ops_[thread], arenas_.shape, step);
    ops_[thread]->endStep();
    if (thread != 0) return;
    trace.operations = operationsOf(timing_.endTrace(trace.totalMs));
}

std::vector<float> CpuTrainer::tensor(const TensorId& id, std::size_t floats) {
    const auto copy = [&](const float* arena, std::size_t LayerLayout::*offset) {
        const float* from = arena + arenas_.layout.layer(id.layer).*offset;
        return std::vector<float>(from, from + floats);
    };
    switch (id.kind) {
    case TensorKind::weights: return copy(arenas_.parameters.data(), &LayerLayout::weightOffset);
    case TensorKind::bias: return copy(arenas_.parameters.data(), &LayerLayout::biasOffset);
    case TensorKind::dWeights: return copy(arenas_.gradients.data(), &LayerLayout::weightOffset);
    case TensorKind::dBias: return copy(arenas_.gradients.data(), &LayerLayout::biasOffset);
    case TensorKind::weightState1: return copy(arenas_.stateArray(0), &LayerLayout::weightOffset);
    case TensorKind::biasState1: return copy(arenas_.stateArray(0), &LayerLayout::biasOffset);
    case TensorKind::weightState2: return copy(arenas_.stateArray(1), &LayerLayout::weightOffset);
    case TensorKind::biasState2: return copy(arenas_.stateArray(1), &LayerLayout::biasOffset);
    default: return ops_[0]->tensor(id, floats); // what a backend computes in between
    }
}

const CpuKernels& kernelsOf(const RungRow& row) {
    if (!row.vectors) return scalarKernels();
    return row.allCores ? bestKernels() : simdKernels();
}

} // namespace

std::size_t usefulThreads(const NetShape& shape, std::size_t batch, std::size_t available,
                          double flopsPerMicrosecond) {
    constexpr double microsecondsWorthAThread = 20;
    const double flops = shape.flopsPerExample() * static_cast<double>(batch);
    const double useful = std::max(1.0, flops / (microsecondsWorthAThread * flopsPerMicrosecond));
    return useful >= static_cast<double>(available) ? available : static_cast<std::size_t>(useful);
}

std::unique_ptr<Trainer> makeCpuTrainer(const TrainJob& job, Rung rung, std::size_t threads) {
    job.validate();
    const RungRow& row = rowOf(rung, false);
    const double flopsPerMicrosecond = row.vectors ? 50e3 : 2e3; // of one thread
    const std::size_t available = threads == 0 ? usableCores() : threads;
    const std::size_t batch = std::min(job.settings.batch, job.data->train.count);
    const std::size_t team =
        row.allCores ? usefulThreads(job.shape, batch, available, flopsPerMicrosecond) : 1;
    const bool small = rung == Rung::best && fitsSmallOps(job.shape, batch);
    return std::make_unique<CpuTrainer>(job, kernelsOf(row), small ? 1 : team,
                                        small ? &smallKernelsFor(vectorLevel()) : nullptr);
}

} // namespace lockstep
