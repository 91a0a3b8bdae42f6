// Where the time of a step goes on a processor: one watch, stopped at the end of every operation.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/train/trainer.h"
#include "engine/train/work.h"

namespace lockstep {

enum class CpuOperation : std::size_t {
    gatherBatch,
    dense,
    lossAndGradient,
    denseBackwardInputs,
    denseBackwardWeights,
    update,
};

/// Reading the clock costs as much as a small layer, so only one step in sixteen is timed. The watch belongs
/// to the first thread; what it waits for the others at a barrier counts to the operation before the barrier.
class CpuTiming {
  public:
    void beginStep(std::uint64_t step) {
        sampling_ = step % samplePeriod == 0;
        if (sampling_) last_ = Clock::now();
    }
    /// The time since the last call belongs to `operation`.
    void lap(CpuOperation operation, const Work& work) {
        if (sampling_) note(operation, work);
    }
    /// The time since the last call belongs to `operation` too, as part of the calls already counted.
    void extend(CpuOperation operation) {
        if (sampling_) addTime(operation);
    }
    /// Operations that were timed at least once, in the order of a step.
    std::vector<OperationTiming> timings() const;
    void clear() { totals_ = {}; }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::uint64_t samplePeriod = 16;

    struct Total {
        double seconds = 0;
        std::uint64_t calls = 0;
        Work work;
    };

    Total& addTime(CpuOperation operation);
    void note(CpuOperation operation, const Work& work);

    bool sampling_ = false;
    Clock::time_point last_;
    std::array<Total, 6> totals_{};
};

} // namespace lockstep
