#include "engine/train/cpu_timing.h"

namespace lockstep {

namespace {

constexpr const char* operationNames[] = {"gather_batch",           "dense",
                                          "loss_and_gradient",      "dense_backward_inputs",
                                          "dense_backward_weights", "update"};

} // namespace

CpuTiming::Total& CpuTiming::addTime(CpuOperation operation) {
    const Clock::time_point now = Clock::now();
    Total& total = totals_[static_cast<std::size_t>(operation)];
    total.seconds += std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return total;
}

void CpuTiming::note(CpuOperation operation, const Work& work) {
    Total& total = addTime(operation);
    total.calls += 1;
    total.work.flops += work.flops;
    total.work.bytes += work.bytes;
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
