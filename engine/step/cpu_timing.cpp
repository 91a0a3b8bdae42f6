#include "engine/step/cpu_timing.h"

#include <utility>

namespace lockstep {

namespace {

constexpr const char* operationNames[] = {"gather_batch",           "dense",
                                          "loss_and_gradient",      "dense_backward_inputs",
                                          "dense_backward_weights", "update"};

double millisecondsBetween(std::chrono::steady_clock::time_point from,
                           std::chrono::steady_clock::time_point to) {
    return std::chrono::duration<double, std::milli>(to - from).count();
}

} // namespace

std::string_view name(CpuOperation operation) { return operationNames[static_cast<std::size_t>(operation)]; }

CpuTiming::Total& CpuTiming::addTime(CpuOperation operation) {
    const Clock::time_point now = Clock::now();
    Total& total = totals_[static_cast<std::size_t>(operation)];
    total.seconds += std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return total;
}

void CpuTiming::note(CpuOperation operation, const Work& work) {
    lastOperation_ = operation;
    Total& total = addTime(operation);
    total.calls += 1;
    total.work.flops += work.flops;
    total.work.bytes += work.bytes;
}

void CpuTiming::beginTrace() {
    laps_.clear();
    laps_.reserve(256); // no allocation between two laps, as long as there are no more
    tracing_ = true;
    barrier_ = false;
    traceStart_ = last_ = Clock::now();
}

std::vector<CpuLap> CpuTiming::endTrace(double& totalMs) {
    totalMs = millisecondsBetween(traceStart_, Clock::now());
    tracing_ = false;
    return std::exchange(laps_, {});
}

void CpuTiming::noteLap(CpuOperation operation, std::size_t layer, const Work& work) {
    const Clock::time_point now = Clock::now();
    laps_.push_back({operation, layer, millisecondsBetween(traceStart_, last_),
                     millisecondsBetween(traceStart_, now), work, std::exchange(barrier_, false)});
    last_ = now;
}

void CpuTiming::noteBarrier() {
    last_ = Clock::now();
    barrier_ = true;
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
