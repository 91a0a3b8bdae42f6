#include "engine/step/cpu_timing.h"

#include <utility>

#include "engine/step/step_trace.h"

namespace lockstep {

namespace {

// As in Ops and in the shaders' file names.
constexpr const char* operationNames[] = {"gather_batch",           "dense",
                                          "loss_and_gradient",      "dense_backward_inputs",
                                          "dense_backward_weights", "update"};

double secondsBetween(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
}

} // namespace

void CpuTiming::lap(CpuOperation operation, const Work& work, std::size_t layer) {
    const Clock::time_point begin = std::exchange(last_, Clock::now());
    if (tracing_) {
        laps_.push_back({operation, layer, begin, last_, work, std::exchange(barrier_, false)});
        return;
    }
    lastOperation_ = operation;
    Total& total = totalOf(operation);
    total.seconds += secondsBetween(begin, last_);
    total.calls += 1;
    total.work += work;
}

void CpuTiming::waited() {
    if (!watching()) return;
    const Clock::time_point begin = std::exchange(last_, Clock::now());
    if (tracing_)
        barrier_ = true;
    else
        totalOf(lastOperation_).seconds += secondsBetween(begin, last_);
}

void CpuTiming::beginTrace() {
    laps_.clear();
    laps_.reserve(256); // no allocation between two laps, as long as there are no more
    tracing_ = true;
    barrier_ = false;
    traceStart_ = last_ = Clock::now();
}

void CpuTiming::endTrace(StepTrace& trace) {
    const auto milliseconds = [this](Clock::time_point at) { return 1e3 * secondsBetween(traceStart_, at); };
    trace.totalMs = milliseconds(Clock::now());
    tracing_ = false;
    for (const Lap& lap : laps_) {
        TracedOperation& operation = trace.operations.emplace_back();
        operation.name = operationNames[static_cast<std::size_t>(lap.operation)];
        operation.layer = lap.layer;
        operation.beginMs = milliseconds(lap.begin);
        operation.endMs = milliseconds(lap.end);
        operation.flops = lap.work.flops;
        operation.bytes = lap.work.bytes;
        operation.barrierBefore = lap.afterBarrier;
    }
}

std::vector<OperationTiming> CpuTiming::timings() const {
    std::vector<OperationTiming> result;
    for (std::size_t index = 0; index < totals_.size(); ++index) {
        const Total& total = totals_[index];
        if (total.calls == 0) continue;
        result.push_back(
            {operationNames[index], total.seconds * 1e3, total.calls, total.work.flops, total.work.bytes});
    }
    return result;
}

} // namespace lockstep
