// Where the time of a step goes on a processor: one watch, stopped at the end of every operation.
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
    bool afterBarrier = false; ///< the thread met the others between the operation before and this one
};

/// Reading the clock costs as much as a small layer, so only one step in sixteen is timed, or fewer. The
/// watch belongs to the first thread; what it waits for the others at a barrier counts to the operation
/// before the barrier.
class CpuTiming {
  public:
    /// From now on one step in `period` is timed.
    void setPeriod(std::uint64_t period) { samplePeriod_ = period; }
    void beginStep(std::uint64_t step) {
        sampling_ = step % samplePeriod_ == 0;
        if (sampling_) last_ = Clock::now();
    }
    /// No step is at hand: what is done until the next one is not training.
    void endSteps() { sampling_ = false; }
    /// Whether the step at hand is timed or traced at all.
    bool watching() const { return sampling_ || tracing_; }
    /// The time since the last call belongs to `operation` (of that layer).
    void lap(CpuOperation operation, const Work& work, std::size_t layer = 0) {
        if (tracing_)
            noteLap(operation, layer, work);
        else if (sampling_)
            note(operation, work);
    }
    /// The time since the last call was spent waiting for the other threads. It belongs to the operation
    /// before, as part of a call already counted; a trace shows it as a gap.
    void waited() {
        if (tracing_)
            noteBarrier();
        else if (sampling_)
            addTime(lastOperation_);
    }

    /// The step that begins now is noted lap by lap, and counts in no timings.
    void beginTrace();
    /// Its laps, and how long it took in milliseconds.
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
