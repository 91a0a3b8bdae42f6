// What the trainers of both machines do alike: losses and the first failure, time, evaluations, traces.
#pragma once

#include <limits>
#include <optional>

#include "engine/net/plain_ops.h"
#include "engine/plan/rounding.h"
#include "engine/run/trainer.h"
#include "engine/step/step_trace.h"
#include "engine/step/work_sizer.h"

namespace lockstep {

/// Adds up the time for which it runs.
class Stopwatch {
  public:
    /// Until the end of the scope, also by an exception.
    class Running {
      public:
        explicit Running(Stopwatch& watch) : watch_(watch) {
            watch_.since_ = std::chrono::steady_clock::now();
        }
        ~Running() {
            watch_.seconds_ = watch_.seconds();
            watch_.since_.reset();
        }
        Running(const Running&) = delete;
        Running& operator=(const Running&) = delete;

      private:
        Stopwatch& watch_;
    };

    void add(double seconds) { seconds_ += seconds; }
    double seconds() const { return seconds_ + (since_ ? secondsSince(*since_) : 0); }

  private:
    double seconds_ = 0;
    std::optional<std::chrono::steady_clock::time_point> since_; ///< while it runs
};

class TrainerBase : public Trainer {
  public:
    const MachineInfo& machine() const final { return machine_; }
    std::uint64_t completedSteps() final;
    void takeLosses(std::vector<LossPoint>& into) final;
    Evaluation evaluate(Split split) final;
    std::uint64_t runFor(std::chrono::duration<double, std::milli> budget) final;
    using Trainer::predict;
    std::vector<float> predict(Split split, std::size_t first, std::size_t rows) final;
    void reloadExamples(std::size_t first, std::size_t count) final;
    void setOptimizer(const OptimizerSettings& settings) final;
    Pace rehearse(double lookSeconds, double mostSeconds, const std::function<bool()>& goesOn) final;
    double trainingSeconds() const final { return training_.seconds(); }
    double warmUpSeconds() const final { return warmUpSeconds_; }
    StepTrace traceStep(const TraceOptions& options) final;

  protected:
    explicit TrainerBase(const TrainJob& job)
        : job_(job), order_(job.order()), largestNumber_(largestOperand(job.settings.precision)) {}

    /// So many seconds of deviceSeconds() are to be left out.
    virtual void forgetDeviceSeconds(double) {}
    /// Notes losses that have become known; never waits.
    virtual void collect() {}
    /// The whole arena, as training has left it.
    virtual std::vector<float> parameters() = 0;
    /// Adds up the whole split; the matrix as in Evaluation. Nothing is training.
    virtual ScoreSum score(Split split, std::vector<std::uint64_t>& confusion) = 0;
    /// The host's examples [first, first + count) have changed. Nothing is training.
    virtual void upload(std::size_t /*first*/, std::size_t /*count*/) {}
    /// The settings in job_ have changed.
    virtual void optimizerChanged() {}
    /// The step that runTraced() makes.
    virtual StepPlan tracedPlan() const = 0;
    /// As TracedStep::source.
    virtual std::vector<float> tensor(const TensorId& id, std::size_t floats) = 0;
    /// Makes the next step and takes it back. Returns its operations with their workgroups, or says why not.
    virtual std::vector<TracedOperation> clockedStep(std::string& why) {
        why = "a CPU has no workgroups";
        return {};
    }
    /// Trains the next step, notes its loss, and fills in the trace's times and operations.
    virtual void runTraced(StepTrace& trace) = 0;

    /// In machine_, where ranks share the job.
    void noteRanks();
    /// Steps go on after those of `state`. Throws as restore() if the state has other sizes.
    void goOnFrom(const TrainerState& state);
    /// A step's loss, the next in order; false if it is not finite: then nothing is noted but the failure.
    bool noteLoss(const LossPoint& point);
    void throwIfFailed();

    TrainJob job_;
    const BatchOrder order_;
    MachineInfo machine_;
    std::uint64_t completed_ = 0;             ///< steps whose loss is known
    std::vector<LossPoint> losses_;           ///< not yet taken
    std::optional<std::uint64_t> failedStep_; ///< had a loss that is not finite
    float largestNumber_;                     ///< that products can read
    Stopwatch training_;
    double warmUpSeconds_ = 0;
    bool rehearsing_ = false;
    bool rehearsed_ = false;

  private:
    void requireExamples(Split split, std::size_t first, std::size_t rows) const;

    std::optional<NonFiniteError> error_;
    WorkSizer budgeted_{{1e3, 1 << 20}}; ///< steps of runFor(); it grows like any other, but by no target
};

} // namespace lockstep
