#include "engine/step/cpu_timing.h"

#include <utility>

#include "engine/many/rank_watch.h"
#include "engine/step/step_trace.h"

namespace lockstep {

namespace {

double milliseconds(std::chrono::steady_clock::duration passed) {
    return std::chrono::duration<double, std::milli>(passed).count();
}

/// What a chart of ranks calls it.
RankWork rankWorkOf(Operation operation) {
    switch (rowOf(operation).shownAs) {
    case Operation::denseBackwardInputs:
    case Operation::denseBackwardWeights:
    case Operation::fetchActivations: return RankWork::backward;
    case Operation::update: return RankWork::update;
    case Operation::exchange:
    case Operation::awaitExchange:
    case Operation::gatherParameters: return RankWork::wait;
    default: return RankWork::forward;
    }
}

} // namespace

void CpuTiming::beginStep(std::uint64_t step) {
    sampling_ = step % samplePeriod_ == 0;
    if (sampling_) last_ = Clock::now();
    if (watch_ == nullptr) return;
    watch_->beginStep(step);
    watched_ = watch_->on();
}

void CpuTiming::lap(const PlannedOperation& operation, StepWork& counted, std::size_t rows) {
    if (watched_) {
        const bool ofLayer = rowOf(operation.operation).ofLayer || operation.operation == Operation::update;
        watch_->lap(rankWorkOf(operation.operation), ofLayer ? operation.layer : noLayer);
    }
    if (!sampling_ && !tracing_) return;
    const Clock::time_point begin = std::exchange(last_, Clock::now());
    const Work work = counted.of(operation, rows);
    if (tracing_) {
        laps_.push_back(
            {operation.operation, operation.layer, begin, last_, work, std::exchange(barrier_, false)});
        return;
    }
    lastOperation_ = rowOf(operation.operation).shownAs;
    OperationTiming& total = totalOf(lastOperation_);
    total.milliseconds += milliseconds(last_ - begin);
    total.calls += 1;
    total.flops += work.flops;
    total.bytes += work.bytes;
}

void CpuTiming::waited() {
    if (!sampling_ && !tracing_) return;
    const Clock::time_point begin = std::exchange(last_, Clock::now());
    if (tracing_)
        barrier_ = true;
    else
        totalOf(lastOperation_).milliseconds += milliseconds(last_ - begin);
}

void CpuTiming::beginTrace() {
    laps_.clear();
    laps_.reserve(256); // no allocation between two laps, as long as there are no more
    tracing_ = true;
    barrier_ = false;
    traceStart_ = last_ = Clock::now();
}

void CpuTiming::endTrace(StepTrace& trace) {
    trace.totalMs = milliseconds(Clock::now() - traceStart_);
    tracing_ = false;
    for (const Lap& lap : laps_) {
        TracedOperation& operation = trace.operations.emplace_back();
        operation.operation = lap.operation;
        operation.layer = lap.layer;
        operation.beginMs = milliseconds(lap.begin - traceStart_);
        operation.endMs = milliseconds(lap.end - traceStart_);
        operation.flops = lap.work.flops;
        operation.bytes = lap.work.bytes;
        operation.barrierBefore = lap.afterBarrier;
    }
}

std::vector<OperationTiming> CpuTiming::timings() const {
    std::vector<OperationTiming> result;
    for (const OperationRow& row : operationTable) { // the recipe's come first
        const OperationTiming& total = totals_[static_cast<std::size_t>(row.operation)];
        if (total.calls == 0) continue;
        result.push_back(total);
        result.back().name = row.name;
    }
    return result;
}

} // namespace lockstep
