// Training on one machine: a kitchen (arenas and kernels of a CPU or GPU rung) behind one interface.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/step/ops.h"
#include "engine/step/train_job.h"

namespace lockstep {

inline double secondsSince(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct StepTrace;    // engine/step/step_trace.h
struct TraceOptions; // engine/step/step_trace.h

/// A step's loss was NaN or infinite. The parameters are as that step found them.
class NonFiniteError : public std::runtime_error {
  public:
    NonFiniteError(std::uint64_t failedStep, std::string failedWhere, const std::string& message)
        : std::runtime_error(message), step(failedStep), where(std::move(failedWhere)) {}
    std::uint64_t step;
    std::string where; ///< "layer 2 (256 -> 128): its weights", "the inputs of example 17", "the loss"
};

/// A trainer is used by one thread at a time. Its device work may run on while it returns; what it returns is
/// always whole.
class Trainer {
  public:
    virtual ~Trainer() = default;
    Trainer() = default;
    Trainer(const Trainer&) = delete;
    Trainer& operator=(const Trainer&) = delete;

    virtual const MachineInfo& machine() const = 0;

    /// Trains `steps` more steps. May return while the device still works on them (a GPU keeps a few
    /// submissions in flight); whatever reads results waits for what it needs.
    virtual void run(std::uint64_t steps) = 0;
    /// Waits until every step asked for is done.
    virtual void finish() = 0;
    /// Steps whose loss is known. Throws NonFiniteError when one of them was not finite.
    virtual std::uint64_t completedSteps() = 0;
    /// Moves the losses that became known since the last call to the end of `into`, in order, without
    /// waiting. Throws NonFiniteError after having delivered the finite losses before the bad step.
    virtual void takeLosses(std::vector<LossPoint>& into) = 0;

    /// Loss, accuracy and confusion matrix over a whole split. Not counted in trainingSeconds().
    virtual Evaluation evaluate(Split split) = 0;
    /// Outputs (after the output activation) for examples [first, first + rows) of a split: [rows][outputs],
    /// no padding.
    virtual std::vector<float> predict(Split split, std::size_t first, std::size_t rows) = 0;

    virtual TrainerState state() = 0;
    /// Throws std::invalid_argument when sizes do not fit. Losses still on their way are dropped.
    virtual void restore(const TrainerState& state) = 0;

    /// Rate, decays, regularisation and schedule from the next step on; steps asked for before keep theirs.
    /// Throws std::invalid_argument for settings that make no sense and for another kind of optimizer: that
    /// takes a new trainer.
    virtual void setOptimizer(const OptimizerSettings& settings) = 0;

    /// LossScaling::skippedSteps: 0 but in half precision. Waits for the steps asked for.
    virtual std::uint64_t skippedSteps() { return 0; }

    virtual double trainingSeconds() const = 0; ///< wall time inside run() and finish(), warm-up left out
    virtual double
    deviceSeconds() const = 0; ///< time the device itself was busy with steps; a CPU: as trainingSeconds()
    virtual double
    warmUpSeconds() const = 0; ///< uploads, compilation, choice of kernels, before the first step
    virtual std::vector<OperationTiming> operations() const = 0;

    /// Trains exactly one step, as run(1) and finish() do and to the same bits, and tells what happened in
    /// it. Throws NonFiniteError when its loss is not finite.
    virtual StepTrace traceStep(const TraceOptions& options) = 0;
};

/// What setOptimizer() refuses, as every trainer does.
void requireSameOptimizer(const OptimizerSettings& current, const OptimizerSettings& next);

/// The layer that a non-finite loss came from, found by the plain twin from the parameters the step started
/// with. `step` has to be the failed step; `largest` is the size of the largest number that products can
/// read. Returns the error to throw, message with a hint included.
NonFiniteError explainNonFinite(const TrainJob& job, std::uint64_t step, std::span<const float> parameters,
                                float largest = std::numeric_limits<float>::max());

} // namespace lockstep
