// Where the time of a step goes on a CPU: one stopwatch, read at the end of every operation.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/plan/operation.h"
#include "engine/plan/work.h"
#include "engine/step/train_job.h"

namespace lockstep {

class RankWatch;  // engine/many/rank_watch.h
struct StepTrace; // engine/step/step_trace.h

/// Reading the clock costs as much as a small layer, so at most one step in sixteen is timed. Only the first
/// thread is timed. The time it waits at a barrier counts towards the operation before the barrier.
class CpuTiming {
  public:
    /// May be null. It is told of every operation of every step while it is on.
    explicit CpuTiming(RankWatch* watch = nullptr) : watch_(watch) {}
    /// Times one step in `period` from now on.
    void setPeriod(std::uint64_t period) { samplePeriod_ = period; }
    void beginStep(std::uint64_t step);
    /// Work until the next beginStep() is not training, and is not timed.
    void endSteps() { sampling_ = watched_ = false; }
    /// Whether the current step is timed, traced or watched.
    bool watching() const { return sampling_ || tracing_ || watched_; }
    /// While watching(): attributes the time since the last call to `operation`.
    void lap(const PlannedOperation& operation, StepWork& work, std::size_t rows);
    /// The time since the last call was spent waiting for the other threads. It is added to the operation
    /// before, without counting another call; a trace shows it as a gap.
    void waited();

    /// Records the step that begins now lap by lap. It does not count in timings().
    void beginTrace();
    /// Writes its operations and its duration.
    void endTrace(StepTrace& trace);

    /// Operations that were timed at least once, in the order of a step.
    std::vector<OperationTiming> timings() const;
    void clear() { totals_ = {}; }

  private:
    using Clock = std::chrono::steady_clock;

    struct Lap {
        Operation operation = Operation::gatherBatch;
        std::size_t layer = 0;
        Clock::time_point begin;
        Clock::time_point end;
        Work work;
        bool afterBarrier = false; ///< the thread waited for the others before it
    };

    OperationTiming& totalOf(Operation operation) { return totals_[static_cast<std::size_t>(operation)]; }

    RankWatch* const watch_;
    bool watched_ = false;
    std::uint64_t samplePeriod_ = 16;
    bool sampling_ = false;
    Clock::time_point last_;
    Operation lastOperation_ = Operation::gatherBatch;
    std::array<OperationTiming, std::size(operationTable)> totals_; // without names

    bool tracing_ = false;
    bool barrier_ = false; // since the last lap
    Clock::time_point traceStart_;
    std::vector<Lap> laps_;
};

} // namespace lockstep
