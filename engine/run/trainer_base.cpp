#include "engine/run/trainer_base.h"

#include <algorithm>
#include <cmath>

#include "engine/net/names.h"
#include "engine/net/param_layout.h"
#include "engine/tune/comparison.h"

namespace lockstep {

bool TrainerBase::noteLoss(const LossPoint& point) {
    if (!std::isfinite(point.loss)) {
        failedStep_ = point.step;
        return false;
    }
    losses_.push_back(point);
    completed_ = point.step + 1;
    return true;
}

void TrainerBase::throwIfFailed() {
    if (!failedStep_) return;
    if (!error_) error_ = explainNonFinite(job_, *failedStep_, parameters(), largestNumber_);
    throw NonFiniteError(*error_);
}

std::uint64_t TrainerBase::completedSteps() {
    collect();
    throwIfFailed();
    return completed_;
}

void TrainerBase::takeLosses(std::vector<LossPoint>& into) {
    collect();
    into.insert(into.end(), losses_.begin(), losses_.end());
    losses_.clear();
    throwIfFailed();
}

Evaluation TrainerBase::evaluate(Split split) {
    finish();
    if (job_.data->of(split).count == 0) return meanOf(job_, split, {});
    std::vector<std::uint64_t> confusion;
    Evaluation result = meanOf(job_, split, score(split, confusion));
    result.confusion = std::move(confusion);
    return result;
}

void TrainerBase::requireExamples(Split split, std::size_t first, std::size_t rows) const {
    const std::size_t count = job_.data->of(split).count;
    if (first > count || rows > count - first)
        throw std::invalid_argument(
            concat("examples ", first, " to ", first + rows, " were requested, but the split has ", count));
}

std::vector<float> TrainerBase::predict(Split split, std::size_t first, std::size_t rows) {
    requireExamples(split, first, rows);
    return inChunks(*job_.data, split, first, rows,
                    [this](std::span<const float> inputs) { return predict(inputs); });
}

void TrainerBase::reloadExamples(std::size_t first, std::size_t count) {
    requireExamples(Split::train, first, count);
    job_.validate();
    finish();
    if (failedStep_ && !error_) // its examples are gone, and with them the reason
        error_ = NonFiniteError(*failedStep_, {},
                                concat("training stopped at step ", *failedStep_,
                                       ": the loss is not finite, and its examples have been replaced; ask "
                                       "for completedSteps() before you replace them, to learn more"));
    upload(first, count);
}

std::uint64_t TrainerBase::runFor(std::chrono::duration<double, std::milli> budget) {
    if (!job_.settings.share.alone())
        throw std::invalid_argument("ranks that share a job make the same number of steps: use run()");
    constexpr double sure = 0.7; // steps differ
    const auto start = std::chrono::steady_clock::now();
    finish();
    const std::uint64_t before = completed_;
    for (;;) {
        const std::uint64_t done = completed_ - before;
        const double passed = 1e3 * secondsSince(start);
        const double fitting =
            std::min(budgeted_.fitting(sure * (budget.count() - passed)), budgeted_.size());
        if (failedStep_ || (done > 0 && fitting < 1)) return done;
        const auto steps = static_cast<std::uint64_t>(std::max(fitting, 1.0));
        run(steps);
        finish();
        budgeted_.add(static_cast<double>(steps), 1e3 * secondsSince(start) - passed);
    }
}

void TrainerBase::setOptimizer(const OptimizerSettings& settings) {
    settings.validate();
    const OptimizerSettings& current = job_.settings.optimizer;
    if (settings.kind != current.kind)
        throw std::invalid_argument(concat("cannot switch from ", name(current.kind), " to ",
                                           name(settings.kind),
                                           "; make a new trainer and restore the state"));
    job_.settings.optimizer = settings;
    optimizerChanged();
}

void TrainerBase::noteRanks() {
    const std::size_t ranks = machine_.ranks = job_.settings.share.ranks;
    if (ranks > 1) machine_.kernels += concat(", shared by ", ranks, " ranks");
}

Pace TrainerBase::rehearse(double lookSeconds, double mostSeconds, const std::function<bool()>& goesOn) {
    if (!job_.settings.share.alone()) return {}; // ranks would make different numbers of steps
    // Clocks may rest on their way up: two looks that agree soon after the start prove little.
    const double leastLooks = std::max(3.0, 0.5 / lookSeconds);
    const auto start = std::chrono::steady_clock::now();
    const TrainerState before = state(); // waits for what was requested
    const Stopwatch training = training_;
    const double device = deviceSeconds();
    rehearsing_ = true;
    WorkSizer chunk({20, 1 << 20});
    Pace last;
    double looks = 0;
    const auto onTime = [&] { return secondsSince(start) < mostSeconds && goesOn(); };
    do {
        const Pace previous = last;
        last = {};
        const auto look = std::chrono::steady_clock::now();
        while (secondsSince(look) < lookSeconds && !failedStep_ && goesOn()) {
            const auto begin = std::chrono::steady_clock::now();
            run(chunk.units());
            last.steps += chunk.units();
            chunk.add(chunk.size(), 1e3 * secondsSince(begin));
        }
        finish();
        last.seconds = secondsSince(look);
        if (++looks >= leastLooks && agree(previous.stepsPerSecond(), last.stepsPerSecond())) break;
    } while (!failedStep_ && onTime());
    rehearsing_ = false;
    rehearsed_ = true;
    if (failedStep_) last = {};
    forgetDeviceSeconds(deviceSeconds() - device);
    restore(before);
    training_ = training;
    return last;
}

void TrainerBase::goOnFrom(const TrainerState& state) {
    const std::size_t size = ParamLayout(job_.shape).size();
    const std::size_t arrays = job_.settings.optimizer.stateArrays();
    const auto fits = [size](const std::vector<float>& array) { return array.size() == size; };
    if (!fits(state.parameters) || state.optimizerState.size() != arrays ||
        !std::ranges::all_of(state.optimizerState, fits))
        throw std::invalid_argument(concat("the state does not fit this network and optimizer: it has ",
                                           state.parameters.size(), " parameters and ",
                                           state.optimizerState.size(), " optimizer arrays; expected ", size,
                                           " and ", arrays));
    completed_ = state.step;
    losses_.clear();
    failedStep_.reset();
    error_.reset();
}

StepTrace TrainerBase::traceStep(const TraceOptions& options) {
    finish();
    throwIfFailed();
    if (!job_.settings.share.alone())
        throw std::invalid_argument("a step that several ranks share is not traced; one rank alone can be");
    if (options.tensors && job_.settings.memory.changeSteps())
        throw std::invalid_argument(
            "a step that saves memory ('recompute', 'accumulate', 'offload') overwrites its tensors; "
            "trace it without, or without its tensors");
    const TracedStep step{job_, order_.range(completed_).rows, options,
                          [this](const TensorId& id, std::size_t floats) { return tensor(id, floats); }};
    StepTrace trace;
    trace.step = completed_;
    trace.machine = machine_;
    std::vector<TracedOperation> clocked;
    trace.clocked = options.workgroups;
    if (options.workgroups) clocked = clockedStep(trace.noWorkgroups);
    keepBefore(step, trace);
    runTraced(trace);
    for (std::size_t i = 0; i < std::min(clocked.size(), trace.operations.size()); ++i)
        trace.operations[i].workgroups = std::move(clocked[i].workgroups);
    throwIfFailed();
    trace.loss = losses_.back().loss;
    keepAfter(step, tracedPlan(), trace);
    if (trace.skipped) trace.operations.back().shapes += "; skipped: gradients have overflowed";
    return trace;
}

} // namespace lockstep
