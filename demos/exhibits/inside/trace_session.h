// What one setting of the exhibit trains on: data, job, and a lane per machine that traces steps when asked.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "demos/exhibits/inside/inside_settings.h"
#include "demos/machines.h"
#include "engine/train/lane.h"
#include "engine/train/step_trace.h"

namespace lockstep::demos {

/// The machines of the exhibit, in the order of its rows.
inline constexpr std::size_t machineCount = 2;

class TraceSession {
  public:
    /// Starts both lanes; they hold at `step`, counted from 0. Throws for settings that do not fit the data,
    /// and gpu::GpuError.
    TraceSession(const InsideSettings& settings, std::shared_ptr<const Dataset> data, Machines& machines,
                 std::uint64_t step);
    /// Stops the lanes and waits for them.
    ~TraceSession() = default;

    const TrainJob& job() const { return job_; }

    /// Asks a machine for the trace of its next step; takeTrace() has it later.
    void trace(std::size_t machine);
    /// Back to the first step and the first weights.
    void reset();
    std::optional<StepTrace> takeTrace(std::size_t machine);
    /// Everything asked of the machine has been done, or it has failed.
    bool idle(std::size_t machine) const;
    bool prepared(std::size_t machine) const;
    /// Why the machine cannot go on; empty while it can.
    std::string failure(std::size_t machine) const;
    /// Waits until the machine is idle.
    void wait(std::size_t machine) const;

  private:
    std::shared_ptr<const Dataset> data_;
    TrainJob job_;
    std::array<std::optional<TrainerState>, machineCount>
        first_;        // used by the lanes' threads only, each its own
    std::mutex mutex_; // guards mail_
    std::array<std::optional<StepTrace>, machineCount> mail_;
    std::array<std::unique_ptr<Lane>, machineCount> lanes_; // their threads use all of the above
};

} // namespace lockstep::demos
