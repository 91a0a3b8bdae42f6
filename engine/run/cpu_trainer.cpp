// Training on the processor.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include "engine/cpu/simd_kernels.h"
#include "engine/cpu/thread_team.h"
#include "engine/plan/rounding.h"
#include "engine/platform/processors.h"
#include "engine/run/cpu_forward.h"
#include "engine/run/double_trainer.h"
#include "engine/run/make_trainer.h"
#include "engine/run/team_sizing.h"
#include "engine/run/trainer_base.h"
#include "engine/run/work_shares.h"
#include "engine/step/cpu_ops.h"
#include "engine/step/small_ops.h"

namespace lockstep {

namespace {

class CpuTrainer final : public TrainerBase {
  public:
    /// `small` may be null: how a network that fits SmallOps is trained, by one thread.
    /// first       threads to begin with; 0: all
    /// ofThreads   as in MachineInfo
    CpuTrainer(const TrainJob& job, const CpuKernels& kernels, std::size_t threads, std::size_t first,
               const SmallKernels* small, std::size_t ofThreads);

    void run(std::uint64_t steps) override;
    void finish() override {}
    using TrainerBase::predict;
    std::vector<float> predict(std::span<const float> inputs) override { return forward_.outputs(inputs); }
    bool takeWeights(TrainedWeights& into) override {
        throwIfFailed();
        into = {completed_, parameters()};
        return true;
    }
    TrainerState state() override;
    void restore(const TrainerState& state) override;
    double deviceSeconds() const override { return trainingSeconds(); }
    std::vector<OperationTiming> operations() const override { return timing_.timings(); }
    std::vector<MemoryUse> predictedMemory() const override { return arenas_.uses(); }
    std::vector<MemoryUse> memory() const override { return arenas_.memory(); }

  private:
    std::vector<float> parameters() override {
        return {arenas_.parameters.span().begin(), arenas_.parameters.span().end()};
    }
    ScoreSum score(Split split, std::vector<std::uint64_t>& confusion) override;
    void optimizerChanged() override {
        arenas_.setOptimizer(job_.settings.optimizer);
        describeMachine();
    }
    StepPlan tracedPlan() const override { return arenas_.plan; }
    std::vector<float> tensor(const TensorId& id, std::size_t floats) override {
        return arenas_.tensor(id, floats);
    }
    void runTraced(StepTrace& trace) override;

    void describeMachine();
    void warmUp();
    /// The first threads of the team do `work`, each of them its share.
    template <class Work> void runTeam(const std::vector<Share>& shares, const Work& work) {
        for (std::size_t thread = 0; thread < shares.size(); ++thread)
            ops_[thread]->takeParts(shares[thread]);
        team_.run(work, shares.size());
    }
    void runChunk(std::uint64_t steps, std::size_t threads);
    void marchThrough(std::size_t thread, std::uint64_t first, std::uint64_t steps);
    /// After the threads are done: a rank that is lost ends the run.
    void throwIfRanksFailed() const {
        if (arenas_.rankFailure) std::rethrow_exception(arenas_.rankFailure);
    }
    void timeLosses() {
        const double seconds = trainingSeconds();
        for (; lossesWithoutTime_ > 0; --lossesWithoutTime_)
            losses_[losses_.size() - lossesWithoutTime_].seconds = seconds;
    }

    CpuArenas arenas_;
    ThreadTeam team_;
    CpuForward forward_;
    TeamSizing sizing_;
    WorkShares shares_;
    std::vector<double> workSeconds_;    ///< of each thread in the last chunk, without waiting
    std::vector<double> secondsOfTeams_; ///< of training, by the number of threads
    CpuTiming timing_;
    std::vector<std::unique_ptr<CpuBackend>> ops_; ///< one per thread
    std::size_t lossesWithoutTime_ = 0;            ///< the last ones of losses_
    std::size_t stepsPerClock_ = 1; ///< a small network takes as long for a layer as reading the clock takes
};

CpuTrainer::CpuTrainer(const TrainJob& job, const CpuKernels& kernels, std::size_t threads, std::size_t first,
                       const SmallKernels* small, std::size_t ofThreads)
    : TrainerBase(job), arenas_(job, kernels, threads, small != nullptr), team_(threads),
      forward_(job.shape, exactKernels(kernels), team_, arenas_.parameters.data()), sizing_(threads, first),
      shares_(threads, arenas_.parts(), arenas_.partGrain()), workSeconds_(threads),
      secondsOfTeams_(threads + 1), timing_(job.exchange == nullptr ? nullptr : job.exchange->watch()) {
    machine_.threads = sizing_.next().threads;
    machine_.ofThreads = job.settings.share.alone() ? ofThreads : 0; // ranks have a part of the cores each
    if (small != nullptr) {
        timing_.setPeriod(256);
        stepsPerClock_ = 8;
        ops_.push_back(std::make_unique<SmallOps>(arenas_, *small, timing_));
    }
    for (std::size_t thread = ops_.size(); thread < threads; ++thread)
        ops_.push_back(std::make_unique<CpuOps>(arenas_, team_, thread == 0 ? &timing_ : nullptr));
    describeMachine();
    warmUp();
}

void CpuTrainer::describeMachine() {
    machine_.device = cpuName();
    machine_.kernels = arenas_.byNeuron ? std::string("built-in kernels for small networks, ") +
                                              lockstep::name(vectorLevel())
                                        : describeKernels(arenas_.kernels);
    if (arenas_.plan.has(Operation::denseBackwardWeightsAndUpdate))
        machine_.kernels += ", update fused into the weight gradients (gradients are not kept)";
    if (const std::string format = emulationText(job_.settings.precision); !format.empty())
        machine_.kernels += ", " + format;
    noteRanks();
}

/// One step, undone again: libraries compile their kernels, and every page of the arenas is touched.
void CpuTrainer::warmUp() {
    const auto start = std::chrono::steady_clock::now();
    const Examples& examples = job_.data->train;
    // A shuffled batch touches pages all over the data set: with pages of 4 KiB, each of its rows costs a
    // walk through the page tables, which takes longer than reading the row.
    platform::preferHugePages(examples.pixels.data(), examples.pixels.size());
    platform::preferHugePages(examples.values.data(), examples.values.size() * sizeof(float));
    platform::preferHugePages(arenas_.parameters.data(), arenas_.parameters.size() * sizeof(float));
    TrainerState initial;
    initial.parameters = parameters();
    initial.optimizerState.assign(arenas_.optimizerState.size(), std::vector<float>(arenas_.layout.size()));
    arenas_.exchanging = false; // not all ranks may be on processors
    runChunk(1, team_.size());
    arenas_.exchanging = true;
    restore(initial);
    timing_.clear();
    warmUpSeconds_ = secondsSince(start);
}

void CpuTrainer::run(std::uint64_t steps) {
    const Stopwatch::Running running(training_);
    double passed = trainingSeconds();
    while (steps > 0 && !failedStep_) {
        const TeamSizing::Stretch stretch = sizing_.next();
        const std::uint64_t now = std::min(steps, stretch.steps);
        runChunk(now, stretch.threads);
        const double after = trainingSeconds();
        sizing_.took(now, after - passed);
        shares_.took(now, workSeconds_);
        secondsOfTeams_[stretch.threads] += after - passed;
        passed = after;
        steps -= now;
    }
    const auto most = std::ranges::max_element(secondsOfTeams_);
    if (*most > 0) machine_.threads = static_cast<std::size_t>(most - secondsOfTeams_.begin());
}

void CpuTrainer::runChunk(std::uint64_t steps, std::size_t threads) {
    // Beforehand, because threads at work must not throw; and ahead, because stretches are short.
    if (losses_.capacity() < losses_.size() + steps)
        losses_.reserve(std::max(2 * losses_.capacity(), losses_.size() + steps));
    const std::uint64_t first = completed_;
    runTeam(shares_.next(threads), [&](std::size_t thread) { marchThrough(thread, first, steps); });
    throwIfRanksFailed();
    if (ops_[0]->failed()) failedStep_ = completed_;
}

/// What every thread does. The loss of a step is the same on all of them, so they stop at the same step.
void CpuTrainer::marchThrough(std::size_t thread, std::uint64_t first, std::uint64_t steps) {
    CpuBackend& ops = *ops_[thread];
    const auto start = std::chrono::steady_clock::now();
    const double waitedBefore = ops.waitedSeconds();
    for (std::uint64_t step = first; step < first + steps; ++step) {
        if (thread == 0) timing_.beginStep(step);
        execute(ops, arenas_.plan, stepSettings(job_.settings, arenas_.order, step));
        ops.endStep();
        if (ops.failed()) break;
        if (thread != 0) continue;
        noteLoss({step, ops.loss()});
        if (++lossesWithoutTime_ == stepsPerClock_) timeLosses();
    }
    workSeconds_[thread] = secondsSince(start) - (ops.waitedSeconds() - waitedBefore);
    if (thread != 0) return;
    timing_.endSteps();
    timeLosses();
}

ScoreSum CpuTrainer::score(Split split, std::vector<std::uint64_t>& confusion) {
    const std::size_t count = job_.data->of(split).count;
    for (const auto& ops : ops_) ops->beginEvaluation(job_.data->classes);
    // Each thread sums up the loss of its rows: equal shares give the same sum every time.
    runTeam(shares_.equal(team_.size()), [&](std::size_t thread) {
        for (std::size_t first = 0; first < count; first += arenas_.capacity)
            scoreRange(*ops_[thread], arenas_.shape, split, first, std::min(arenas_.capacity, count - first));
    });
    ScoreSum sum;
    confusion.assign(ops_[0]->confusion().size(), 0);
    for (const auto& ops : ops_) {
        sum.loss += ops->scored().loss;
        sum.correct += ops->scored().correct;
        std::ranges::transform(confusion, ops->confusion(), confusion.begin(), std::plus<>());
    }
    return sum;
}

TrainerState CpuTrainer::state() {
    TrainerState result;
    result.step = completed_;
    result.parameters = parameters();
    for (const AlignedArray<float>& array : arenas_.optimizerState)
        if (arenas_.ranks)
            result.optimizerState.push_back(arenas_.ranks->wholeState(array.span()));
        else
            result.optimizerState.emplace_back(array.span().begin(), array.span().end());
    return result;
}

void CpuTrainer::restore(const TrainerState& state) {
    goOnFrom(state);
    std::ranges::copy(state.parameters, arenas_.parameters.data());
    roundStored(job_.settings.precision, {arenas_.parameters.data(), arenas_.parameters.size()});
    for (std::size_t array = 0; array < state.optimizerState.size(); ++array)
        if (arenas_.ranks)
            arenas_.ranks->ownState(state.optimizerState[array], {arenas_.optimizerState[array].data(),
                                                                  arenas_.optimizerState[array].size()});
        else
            std::ranges::copy(state.optimizerState[array], arenas_.optimizerState[array].data());
}

/// All threads are awake before the clock starts.
void CpuTrainer::runTraced(StepTrace& trace) {
    const StepSettings step = stepSettings(job_.settings, arenas_.order, completed_);
    const double before = trainingSeconds();
    {
        const Stopwatch::Running running(training_);
        runTeam(shares_.next(team_.size()), [&](std::size_t thread) {
            team_.barrier();
            if (thread == 0) timing_.beginTrace();
            execute(*ops_[thread], arenas_.plan, step);
            ops_[thread]->endStep();
            if (thread == 0) timing_.endTrace(trace);
        });
    }
    trace.wallMs = 1e3 * (trainingSeconds() - before);
    trace.bf16 = &arenas_.kernels == &bf16Kernels();
    if (ops_[0]->failed())
        failedStep_ = completed_;
    else
        noteLoss({completed_, ops_[0]->loss(), trainingSeconds()});
}

} // namespace

std::size_t usefulThreads(const NetShape& shape, std::size_t batch, std::size_t available,
                          double flopsPerMicrosecond) {
    constexpr double microsecondsWorthAThread = 20;
    const double flops = shape.flopsPerExample() * static_cast<double>(batch);
    const double useful = std::max(1.0, flops / (microsecondsWorthAThread * flopsPerMicrosecond));
    return useful >= static_cast<double>(available) ? available : static_cast<std::size_t>(useful);
}

const CpuKernels& trainingKernels(const RungRow& row, std::size_t threads, const CoreCount& cores) {
    if (!row.vectors) return scalarKernels();
    if (row.rung == Rung::bf16) return bf16Kernels();
    const bool slowCores = cores.fast < cores.physical && threads > cores.fast;
    return row.allCores && !slowCores ? bestKernels() : simdKernels();
}

namespace {

TrainJob onProcessor(TrainJob job) {
    job.settings.memory.offload = Offload::none; // it computes in the host's memory
    return job;
}

/// What trains a job on the processor.
struct CpuChoice {
    CpuChoice(const TrainJob& job, Rung rung, std::size_t threads) {
        const RungRow& row = rowOf(rung, false);
        if (rung == Rung::bf16 && !hasBf16Instructions())
            throw std::runtime_error(concat("'", cpuName(), "' cannot run ", row.lane, ": ", row.needs));
        const double flopsPerMicrosecond = row.vectors ? 50e3 : 2e3; // of one thread
        const CoreCount cores = usablePhysicalCores();
        const std::size_t batch = std::min(job.settings.batch, job.data->train.count);
        small = rung == Rung::best && !job.settings.changeSteps() && !job.settings.precision.rounds() &&
                fitsSmallOps(job.shape, batch);
        const auto teamOf = [&](std::size_t most) {
            return row.allCores && !small ? usefulThreads(job.shape, batch, most, flopsPerMicrosecond) : 1;
        };
        team = teamOf(threads == 0 ? cores.physical : threads);
        unlimited = teamOf(cores.physical);
        first = threads == 0 ? cores.fast : 0; // the others join where that is faster
        kernels = &trainingKernels(row, team, cores);
    }

    bool small = false; ///< SmallOps do
    std::size_t team = 1;
    std::size_t unlimited = 1; ///< the team without a limit on threads
    std::size_t first = 0;
    const CpuKernels* kernels = nullptr;
};

} // namespace

CpuMemory cpuMemoryOf(const TrainJob& job, Rung rung, std::size_t threads) {
    job.validate();
    const TrainJob own = onProcessor(job);
    const CpuChoice choice(own, rung, threads);
    return {own, *choice.kernels, choice.team, choice.small};
}

std::unique_ptr<Trainer> makeCpuTrainer(const TrainJob& job, Rung rung, std::size_t threads) {
    job.validate();
    job.requireExchange();
    requireFormat(job.settings.precision, LaneSpec{false, rung, {}});
    if (job.settings.precision.wide()) return makeDoubleTrainer(job);
    const TrainJob own = onProcessor(job);
    const CpuChoice choice(own, rung, threads);
    return std::make_unique<CpuTrainer>(own, *choice.kernels, choice.team, choice.first,
                                        choice.small ? &widestTables().small : nullptr,
                                        choice.team < choice.unlimited ? choice.unlimited : 0);
}

} // namespace lockstep
