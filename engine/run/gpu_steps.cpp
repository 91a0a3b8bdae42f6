#include "engine/run/gpu_steps.h"

#include <algorithm>
#include <utility>

#include "engine/many/rank_watch.h"
#include "engine/net/names.h"
#include "engine/tune/comparison.h"
#include "engine/tune/fusion_choice.h"
#include "engine/tune/kernel_cache.h"

namespace lockstep {

GpuSteps::GpuSteps(gpu::Recorder& recorder, GpuArenas& arenas, Kernels& kernels, const TrainJob& job,
                   Rung rung, const StepKernels& how, const HalfArenas* half, std::size_t workgroups)
    : recorder_(recorder), arenas_(arenas), kernels_(kernels), job_(job), rung_(rung),
      inPieces_(how.inPieces()), workgroups_(workgroups), fusions_(kernels, arenas, job.settings, how),
      ops_(recorder, arenas, kernels, job.settings, how, half, &fusions_) {}

void GpuSteps::record(std::uint64_t first, std::uint64_t count) {
    if (wholeStep_) return wholeStep_->record(recorder_, job_.settings, first, count);
    const StepPlan& plan = joins_ ? fusions_.plan() : fusions_.apart();
    for (std::uint64_t step = first; step < first + count; ++step) {
        if (arenas_.watch != nullptr) arenas_.watch->beginStep(step);
        execute(ops_, plan, stepSettings(job_.settings, arenas_.order, step));
    }
}

void GpuSteps::recordApart(std::uint64_t step) {
    const bool joins = std::exchange(joins_, false);
    record(step, 1);
    joins_ = joins;
}

double GpuSteps::millisecondsOf(std::uint64_t first, std::uint64_t steps) {
    recorder_.begin();
    record(first, steps);
    return recorder_.submitAndTime();
}

// Drivers compile a pipeline at its first use, and some compile another version for buffers of another size.
void GpuSteps::warmUp(Tuning& tuning) {
    submitEachOperation(true); // their times are not known yet
    if (rung_ == Rung::wholeStep) wholeStep_.emplace(kernels_, arenas_, job_);
    coldMilliseconds_ = warmUpSteps();
    joins_ = true;
    if (inPieces_) return limitWorkgroups();
    submitEachOperation(false); // it would slow down what is compared below
    mayChange_ = rung_ == Rung::best && wholeStepLayout(kernels_.device(), job_).refusal.empty();
    if (mayChange_) chooseWhole(tuning);
    if (rung_ == Rung::best && !wholeStep_) chooseFused(tuning);
    limitWorkgroups();
    constexpr double slow =
        2000; // milliseconds, of which most may be the compiler's: the second time they are not
    if (coldMilliseconds_ < slow || warmUpSteps() < slow) countDispatches();
}

// After all choices: a run with a limit shows what fewer workgroups do to the same kernels, and what the
// cache remembers is about the whole device. Then kernels show their speed anew (Recorder::limitWorkgroups).
void GpuSteps::limitWorkgroups() {
    if (workgroups_ == 0) return;
    recorder_.limitWorkgroups(workgroups_);
    submitEachOperation(true);
    for (int seen = 0; seen < 2; ++seen) // the first time is not believed
        coldMilliseconds_ = std::max(coldMilliseconds_, warmUpSteps());
    submitEachOperation(false);
}

// The first step of an epoch and its last one, whose batch may be smaller. Returns the first one's
// milliseconds.
double GpuSteps::warmUpSteps() {
    ops_.firstPiecesOnly(true);
    const double milliseconds = millisecondsOf(0, 1);
    const std::uint64_t last = arenas_.order.stepsPerEpoch() - 1;
    if (arenas_.order.range(last).rows != arenas_.order.batch()) millisecondsOf(last, 1);
    ops_.firstPiecesOnly(false);
    return milliseconds;
}

// What the time of a step depends on.
std::string GpuSteps::key() const {
    std::string key;
    for (const std::size_t width : job_.shape.widths) key += concat(" ", width);
    return key + concat(" x", arenas_.order.batch(), " ", name(job_.shape.activation), " ",
                        name(job_.settings.optimizer.kind));
}

// The choice is remembered: between runs in the cache, and in a run's state. The cache knows built-in shaders
// only: an edited one may be slower, and its time says nothing about other runs.
void GpuSteps::chooseWhole(Tuning& tuning) {
    const bool builtIn = kernels_.replacedShaders().empty();
    KernelCache cache(kernels_.device());
    const std::string entry = "whole_step" + key();
    if (builtIn)
        if (const auto known = cache.find(entry)) return setWhole(known->usable());
    if (tuning.skipped()) return;
    if (!tuning.progress().going()) tuning.beginLast(std::string(wholeTrainingStep));
    settleOnce(tuning);
    constexpr std::uint64_t steps = 16;
    constexpr int rounds = 3;
    const std::vector<double> least = leastInTurn(
        2, rounds,
        [&](std::size_t at) {
            setWhole(at == 1);
            return millisecondsOf(0, steps);
        },
        [] { return true; });
    const double apart = least[0], whole = least[1];
    setWhole(whole < apart);
    if (!builtIn) return;
    cache.remember(entry, {{}, whole < apart ? whole / steps : MeasuredKernel::unusable});
    cache.store();
}

// A GPU that idled while kernels were compiled is slow at first.
void GpuSteps::settleOnce(const Tuning& tuning) {
    if (std::exchange(settled_, true) || kernels_.device().software()) return;
    settle([this] { return millisecondsOf(0, 16); }, [&] { return !tuning.skipped(); });
}

void GpuSteps::setWhole(bool on) {
    if (on == wholeStep_.has_value()) return;
    wholeStep_.reset();
    if (!on) return; // single operations are warm since the start
    wholeStep_.emplace(kernels_, arenas_, job_);
    warmUpSteps();
}

// Results do not depend on it, so a run's state need not know.
void GpuSteps::chooseFused(Tuning& tuning) {
    KernelCache cache(kernels_.device());
    chooseFusions(
        fusions_, kernels_.replacedShaders().empty() ? &cache : nullptr, key(),
        [&](std::uint64_t steps) {
            settleOnce(tuning);
            return millisecondsOf(0, steps) / static_cast<double>(steps);
        },
        tuning);
    warmUpSteps();
}

// Counts those of a step after another one, in the same submission.
void GpuSteps::countDispatches() {
    recorder_.begin();
    record(0, 1);
    const std::uint64_t dispatches = recorder_.dispatches();
    const std::uint64_t barriers = recorder_.barriers();
    record(0, 1);
    dispatches_ = recorder_.dispatches() - dispatches;
    barriers_ = recorder_.barriers() - barriers;
    recorder_.submitAndTime();
}

std::string GpuSteps::describe() const {
    if (wholeStep_) return wholeStep_->describe();
    std::string together;
    for (const Operation joined : joinedOperations) {
        if (!fusions_.on(joined)) continue;
        std::string words(name(joined));
        std::ranges::replace(words, '_', ' ');
        together += concat(together.empty() ? ", fused: " : ", ", words);
    }
    return together;
}

} // namespace lockstep
