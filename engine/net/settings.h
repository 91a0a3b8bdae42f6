// The settings of a training run, as values, and what they mean for one step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/net/batch_order.h"
#include "shaders/shared/params.h"

namespace lockstep {

enum class Optimizer : std::uint32_t {
    sgd = shared::optimizerSgd,
    momentum = shared::optimizerMomentum, ///< SGD with momentum
    rmsprop = shared::optimizerRmsprop,
    adam = shared::optimizerAdam,
    adamw = shared::optimizerAdamw,
};

enum class Schedule : std::uint32_t {
    constant,
    step,   ///< lr * gamma^floor(t / scheduleSteps): `torch.optim.lr_scheduler.StepLR`, stepped once per
            ///< training step
    cosine, ///< lr * (1 + cos(pi * min(t, scheduleSteps) / scheduleSteps)) / 2: `CosineAnnealingLR` with
            ///< eta_min 0, then 0
};

/// Hyperparameters with PyTorch's names and defaults, except the rate's: 0 means the optimizer's own default
/// (sgd and momentum 0.1 here, where PyTorch has 1e-3; rmsprop 1e-2; adam and adamw 1e-3).
struct OptimizerSettings {
    Optimizer kind = Optimizer::adam;
    double learningRate = 0;
    double momentum = 0.9; ///< of `momentum` only
    bool nesterov = false; ///< of `momentum` only
    double beta1 = 0.9;    ///< adam, adamw
    double beta2 = 0.999;  ///< adam, adamw
    double alpha = 0.99;   ///< rmsprop
    double epsilon = 1e-8;
    double weightDecay =
        -1; ///< L2: added to the gradient as weightDecay * w; adamw: decoupled. -1: 0.01 for adamw, else 0
    double l1 = 0; ///< adds l1 * sign(w) to the gradient (not in PyTorch's optimizers)
    Schedule schedule = Schedule::constant;
    std::uint64_t scheduleSteps = 1000;
    double scheduleGamma = 0.1; ///< of `step`
    std::uint64_t warmupSteps =
        0; ///< the rate rises linearly over these: times (t + 1) / warmupSteps while t < warmupSteps

    double effectiveLearningRate() const; ///< learningRate, or the default when it is 0
    double effectiveWeightDecay() const;
    std::size_t stateArrays() const; ///< arrays of the arena's size that the optimizer keeps: 0, 1 or 2
    /// Throws std::invalid_argument naming the setting that makes no sense (negative or non-finite rate, beta
    /// outside [0, 1), ...).
    void validate() const;
};

struct TrainSettings {
    OptimizerSettings optimizer;
    std::size_t batch = 128;
    std::uint64_t seed = 1;
    bool shuffle = true;
};

/// All that changes from step to step, computed on the host in double: which examples, and the optimizer's
/// numbers.
struct StepSettings {
    std::uint64_t step = 0; ///< counted from 0
    BatchRange batch;
    shared::OrderKeys keys{};
    shared::UpdateParams update{}; ///< `count` is left 0; the kitchen fills it
};

/// The learning rate of step t (from 0), schedule and warm-up included.
double learningRate(const OptimizerSettings& settings, std::uint64_t step);

StepSettings stepSettings(const TrainSettings& settings, const BatchOrder& order, std::uint64_t step);

std::string_view name(Optimizer value);
std::string_view name(Schedule value);
Optimizer optimizerFromName(std::string_view text);
Schedule scheduleFromName(std::string_view text);

} // namespace lockstep
