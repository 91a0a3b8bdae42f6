// Where the time of a step goes on a CPU: one stopwatch, read at the end of every operation.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/step/train_job.h"
#include "engine/step/work.h"

namespace lockstep {

enum class CpuOperation : std::size_t {
    gatherBatch,
    dense,
    lossAndGradient,
    denseBackwardInputs,
    denseBackwardWeights,
    update,
};

/// As in Ops and in the shader's file name.
std::string_view name(CpuOperation operation);

/// One operation of a traced step, in milliseconds since the step began.
struct CpuLap {
    CpuOperation operation = CpuOperation::gatherBatch;
    std::size_t layer = 0;
    double beginMs = 0;
    double endMs = 0;
    Work work;
    bool afterBarrier = false; ///< the thread waited for the others before this operation
};

/// Reading the clock costs as much as a small layer, so at most one step in sixteen is timed. Only the first
/// thread is timed. The time it waits at a barrier counts towards the operation before the barrier.
class CpuTiming {
  public:
    /// Times one step in `period` from now on.
    void setPeriod(std::uint64_t period) { samplePeriod_ = period; }
    void beginStep(std::uint64_t step) {
        sampling_ = step % samplePeriod_ == 0;
        if (sampling_) last_ = Clock::now();
    }
    /// Work until the next beginStep() is not training, and is not timed.
    void endSteps() { sampling_ = false; }
    /// Whether the current step is timed or traced.
    bool watching() const { return sampling_ || tracing_; }
    /// Attributes the time since the last call to `operation` (of that layer).
    void lap(CpuOperation operation, const Work& work, std::size_t layer = 0) {
        if (tracing_)
            noteLap(operation, layer, work);
        else if (sampling_)
            note(operation, work);
    }
    /// The time since the last call was spent waiting for the other threads. It is added to the operation
    /// before, without counting another call; a trace shows it as a gap.
    void waited() {
        if (tracing_)
            noteBarrier();
        else if (sampling_)
            addTime(lastOperation_);
    }

    /// Records the step that begins now lap by lap. It does not count in timings().
    void beginTrace();
    /// Returns its laps, and its duration in milliseconds.
    std::vector<CpuLap> endTrace(double& totalMs);

    /// Operations that were timed at least once, in the order of a step.
    std::vector<OperationTiming> timings() const;
    void clear() { totals_ = {}; }

  private:
    using Clock = std::chrono::steady_clock;

    struct Total {
        double seconds = 0;
        std::uint64_t calls = 0;
        Work work;
    };

    Total& addTime(CpuOperation operation);
    void note(CpuOperation operation, const Work& work);
    void noteLap(CpuOperation operation, std::size_t layer, const Work& work);
    void noteBarrier();

    std::uint64_t samplePeriod_ = 16;
    bool sampling_ = false;
    Clock::time_point last_;
    CpuOperation lastOperation_ = CpuOperation::gatherBatch;
    std::array<Total, 6> totals_{};

    bool tracing_ = false;
    bool barrier_ = false; // since the last lap
    Clock::time_point traceStart_;
    std::vector<CpuLap> laps_;
};

} // namespace lockstep
