#include "engine/step/cpu_timing.h"

#include <utility>

#include "engine/step/step_trace.h"

namespace lockstep {

namespace {

// As in Ops and in the shaders' file names.
constexpr const char* operationNames[] = {"gather_batch",           "dense",
                                          "loss_and_gradient",      "dense_backward_inputs",
                                          "dense_backward_weights", "update"};

double milliseconds(std::chrono::steady_clock::duration passed) {
    return std::chrono::duration<double, std::milli>(passed).count();
}

} // namespace

void CpuTiming::lap(CpuOperation operation, const Work& work, std::size_t layer) {
    const Clock::time_point begin = std::exchange(last_, Clock::now());
    if (tracing_) {
        laps_.push_back({operation, layer, begin, last_, work, std::exchange(barrier_, false)});
        return;
    }
    lastOperation_ = operation;
    OperationTiming& total = totalOf(operation);
    total.milliseconds += milliseconds(last_ - begin);
    total.calls += 1;
    total.flops += work.flops;
    total.bytes += work.bytes;
}

void CpuTiming::waited() {
    if (!watching()) return;
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
        operation.name = operationNames[static_cast<std::size_t>(lap.operation)];
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
    for (std::size_t index = 0; index < totals_.size(); ++index) {
        if (totals_[index].calls == 0) continue;
        result.push_back(totals_[index]);
        result.back().name = operationNames[index];
    }
    return result;
}

} // namespace lockstep
