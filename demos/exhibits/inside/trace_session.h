// What one setting of the exhibit trains on: data, job, and a lane per machine that traces steps when asked.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "demos/kit/machines.h"
#include "demos/kit/run_settings.h"
#include "engine/run/lane.h"
#include "engine/step/step_trace.h"

namespace lockstep::demos {

/// The machines of the exhibit, in the order of its rows.
inline constexpr std::size_t machineCount = 2;

class TraceSession {
  public:
    /// Starts both lanes; they hold at `step`, counted from 0. Throws for settings that do not fit the data,
    /// and gpu::GpuError.
    TraceSession(const RunOptions& settings, std::shared_ptr<const Dataset> data, Machines& machines,
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

    /// What is asked of the machine from now on is done by the trainer that `make` makes, from the step and
    /// the weights at hand. `device`: what that trainer runs on, where it is the trainer's own; else null.
    /// The machine has to be idle. Returns at once.
    void replace(std::size_t machine, Lane::MakeTrainer make, std::unique_ptr<gpu::Device> device);

  private:
    struct Seat {
        std::unique_ptr<gpu::Device> device; // of the lane's trainer alone; null: one of the window's
        std::unique_ptr<Lane> lane;
    };

    void seat(std::size_t machine, Lane::MakeTrainer make, std::unique_ptr<gpu::Device> device);

    std::array<std::string, machineCount> titles_;
    std::shared_ptr<const Dataset> data_;
    TrainJob job_;
    std::array<std::optional<TrainerState>, machineCount>
        first_;        // used by the lanes' threads only, each its own
    std::mutex mutex_; // guards mail_
    std::array<std::optional<StepTrace>, machineCount> mail_;
    std::array<Seat, machineCount> seats_; // their lanes' threads use all of the above
};

} // namespace lockstep::demos
