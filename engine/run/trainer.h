// Training on one machine: the backend of a CPU or GPU rung behind one interface.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/plan/memory_use.h"
#include "engine/plan/tensor.h"
#include "engine/step/train_job.h"

namespace lockstep {

inline double secondsSince(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct StepTrace;    // engine/step/step_trace.h
struct TraceOptions; // engine/step/step_trace.h

/// The first values of a step that are not finite. All empty: nothing before the loss.
struct NonFinitePlace {
    std::optional<TensorId> tensor;     ///< of a layer's outputs A[layer + 1], of the data A[0] or t
    std::optional<std::size_t> layer;   ///< empty for the data
    std::optional<std::size_t> example; ///< of the training split, only for the data

    bool operator==(const NonFinitePlace&) const = default;
};

/// A step's loss was NaN or infinite. The parameters are as they were before that step.
class NonFiniteError : public std::runtime_error {
  public:
    NonFiniteError(std::uint64_t failedStep, const NonFinitePlace& found, const std::string& message)
        : std::runtime_error(message), step(failedStep), place(found) {}
    std::uint64_t step;
    NonFinitePlace place;
};

/// How far a machine came in some time.
struct Pace {
    std::uint64_t steps = 0;
    double seconds = 0;

    double stepsPerSecond() const { return seconds > 0 ? static_cast<double>(steps) / seconds : 0; }
};

/// The parameters after some step.
struct TrainedWeights {
    std::uint64_t step = 0;        ///< steps done
    std::vector<float> parameters; ///< arena, ParamLayout
};

/// What one rank's run takes.
struct RankMemory {
    std::vector<MemoryUse> predicted;
    std::vector<MemoryUse> allocated;
};

/// Used by one thread at a time. Calls may return while the device is still working, but what they return is
/// always complete.
class Trainer {
  public:
    virtual ~Trainer() = default;
    Trainer() = default;
    Trainer(const Trainer&) = delete;
    Trainer& operator=(const Trainer&) = delete;

    virtual const MachineInfo& machine() const = 0;

    /// Trains `steps` more steps. May return while the device still works on them (a GPU keeps a few
    /// submissions in flight); calls that read results wait for them.
    virtual void run(std::uint64_t steps) = 0;
    /// Trains as many steps as surely end within `budget`, by the time that steps have taken so far, and
    /// waits for them: for a share of each frame of a host's own loop. One step at least, however long it
    /// takes. Returns the number of steps: 0 once a loss was not finite, for which completedSteps() throws.
    /// Those that were requested before are waited for, too. Throws std::invalid_argument for a rank among
    /// several, which all have to make the same number of steps.
    virtual std::uint64_t runFor(std::chrono::duration<double, std::milli> budget) = 0;
    /// Waits until all requested steps are done.
    virtual void finish() = 0;
    /// Steps whose loss is known. Throws NonFiniteError when one of them was not finite.
    virtual std::uint64_t completedSteps() = 0;
    /// Appends the losses that became known since the last call to `into`, in order, without waiting. Throws
    /// NonFiniteError after delivering the finite losses before the bad step.
    virtual void takeLosses(std::vector<LossPoint>& into) = 0;

    /// Loss, accuracy and confusion matrix over a whole split. Its time does not count in trainingSeconds().
    virtual Evaluation evaluate(Split split) = 0;
    /// Outputs (after the output activation) for examples [first, first + rows) of a split: [rows][outputs],
    /// no padding.
    virtual std::vector<float> predict(Split split, std::size_t first, std::size_t rows) = 0;
    /// Outputs for rows that are in no split, as Inference::outputs() with the current weights.
    /// `inputs` are [rows][inputs] numbers as the network sees them. Throws std::invalid_argument for a part
    /// of a row. Waits for the requested steps.
    virtual std::vector<float> predict(std::span<const float> inputs) = 0;

    /// Gives a copy of the weights without stopping the device. Returns false while none is ready that was
    /// not given before; the next steps then bring one along: ask again later. A copy may be some steps old
    /// (TrainedWeights::step). Where nothing is in flight, it is the current weights. Throws NonFiniteError
    /// as completedSteps().
    virtual bool takeWeights(TrainedWeights& into) = 0;

    /// Reads examples [first, first + count) of the training split again, after the host has written others
    /// over them in its data set (Examples::values or pixels, and labels or targets; sizes stay). The next
    /// steps train on them. For batches of the host's own: a split of one batch, in file order
    /// (TrainSettings::shuffle off), written anew before each step. Waits for the requested steps. Throws
    /// std::invalid_argument for examples that are not there and labels that are no class; then the host has
    /// to correct them before it trains on.
    virtual void reloadExamples(std::size_t first, std::size_t count) = 0;

    virtual TrainerState state() = 0;
    /// Throws std::invalid_argument if sizes do not fit. Drops losses that were not taken yet.
    virtual void restore(const TrainerState& state) = 0;

    /// Sets rate, decays, regularisation and schedule from the next step on; steps already requested keep
    /// theirs. Throws std::invalid_argument for invalid settings, and for another kind of optimizer: that
    /// needs a new trainer.
    virtual void setOptimizer(const OptimizerSettings& settings) = 0;

    /// Trains on until the machine's speed settles: for half a second and three looks of `lookSeconds` at
    /// least, until two looks agree within 3 %, for at most `mostSeconds` and while `goesOn` (asked often).
    /// Then takes it all back: weights, losses and times are as before. Returns the steps and seconds of the
    /// last look; for one rank among several, none.
    virtual Pace rehearse(double lookSeconds, double mostSeconds, const std::function<bool()>& goesOn) = 0;

    /// LossScaling::skippedSteps; 0 unless in half precision. Waits for the requested steps.
    virtual std::uint64_t skippedSteps() { return 0; }

    /// Wall time inside run() and finish(), and between calls while the device works on requested steps;
    /// without warm-up.
    virtual double trainingSeconds() const = 0;
    /// Time the device was busy with steps; on a CPU the same as trainingSeconds().
    virtual double deviceSeconds() const = 0;
    /// Uploads, compilation and choice of kernels, before the first step.
    virtual double warmUpSeconds() const = 0;
    virtual std::vector<OperationTiming> operations() const = 0;

    /// What the run takes by the plan of its steps, and what was allocated for it. The processor's lanes
    /// read the data set where it is; what their threads and kernels keep besides is not counted.
    virtual std::vector<MemoryUse> predictedMemory() const = 0;
    virtual std::vector<MemoryUse> memory() const = 0;
    /// The same of each of the ranks whose trainer this is (rank_team.h).
    virtual std::vector<RankMemory> memoryByRank() const { return {{predictedMemory(), memory()}}; }

    /// Trains exactly one step, with the same bits as run(1) and finish(), and records what happened in it.
    /// Throws NonFiniteError if its loss is not finite.
    virtual StepTrace traceStep(const TraceOptions& options) = 0;
};

/// Finds where a non-finite loss came from: repeats the failed step `step` with the plain loops, from the
/// parameters the step started with. `largest` is the largest number that products can read. Returns the
/// error to throw, with a hint in its message.
NonFiniteError explainNonFinite(const TrainJob& job, std::uint64_t step, std::span<const float> parameters,
                                float largest = std::numeric_limits<float>::max());

} // namespace lockstep
