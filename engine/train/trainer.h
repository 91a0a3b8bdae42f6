// Training on one machine: a kitchen (arenas and kernels of a CPU or GPU rung) behind one interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/net/dataset.h"
#include "engine/net/net_shape.h"
#include "engine/net/settings.h"
#include "engine/train/ops.h"

namespace lockstep {

struct StepTrace;    // engine/train/step_trace.h
struct TraceOptions; // engine/train/step_trace.h

/// Everything that machines in a race must agree on. `data` must outlive every trainer made from the job.
struct TrainJob {
    const Dataset* data = nullptr;
    NetShape shape;
    TrainSettings settings;

    /// Throws std::invalid_argument when shape, data and settings do not fit together.
    void validate() const;
};

/// The loss of a step, and when the host learned of it: seconds of training since the trainer was made,
/// evaluation and pauses not counted.
struct LossPoint {
    std::uint64_t step = 0;
    float loss = 0;
    double seconds = 0;
};

/// Time of one operation, from the steps that were sampled (one step in every 64th submission of a
/// GPU, one step in sixteen of a CPU, one in 256 where a step takes about a microsecond).
struct OperationTiming {
    std::string name; ///< as in Ops and in the shader's file name: "dense", "dense_backward_weights", ...
    double milliseconds = 0; ///< total of the timed calls
    std::uint64_t calls = 0; ///< calls that were timed
    double flops = 0;        ///< total of the timed calls
    double bytes = 0;        ///< total of the timed calls, each tensor counted once per call
};

struct Evaluation {
    double loss = 0;
    double accuracy = 0; ///< share of the examples answered rightly; NaN in regression
    std::size_t count = 0;
    std::vector<std::uint64_t> confusion; ///< [true class][answered class]; empty in regression
};

/// All that a run needs to go on: bit-identical to never having stopped, on the same rung with the same
/// threads.
/// How a lane of half precision scales its loss (shaders/loss_scale.glsl).
struct LossScaling {
    float scale = shared::lossScaleMost; ///< of the next step, a power of two
    std::uint32_t goodSteps = 0;         ///< since it changed
    std::uint32_t skippedSteps = 0;      ///< so far: gradients overflowed, and nothing was learned from them
    bool operator==(const LossScaling&) const = default;
};

struct TrainerState {
    std::uint64_t step = 0;                         ///< steps done
    std::vector<float> parameters;                  ///< arena, ParamLayout
    std::vector<std::vector<float>> optimizerState; ///< OptimizerSettings::stateArrays() arenas
    LossScaling lossScaling;                        ///< of half precision; others leave it alone
};

/// What computes, as results name it.
struct MachineInfo {
    std::string
        device; ///< "AMD Ryzen 9 9950X", "NVIDIA GeForce RTX 4070", "llvmpipe (LLVM 15.0.6, 256 bits)"
    std::string driver; ///< name and version, empty for a CPU
    bool gpu = false;
    bool software = false;   ///< a Vulkan driver that computes on the processor: not a GPU
    std::size_t threads = 0; ///< CPU threads that train; 0 for a GPU
    std::string
        kernels; ///< which kernels run, for humans: "oneDNN 2.6 sgemm, AVX-512", "dense: blocked 16x16, ..."
};

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
