// The settings of a training run, and what they mean for one step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/net/batch_order.h"
#include "engine/net/optimizer.h"
#include "shaders/shared/params.h"

namespace lockstep {

enum class Schedule : std::uint32_t {
    constant,
    step,   ///< lr * gamma^floor(t / scheduleSteps): PyTorch's `StepLR`, stepped once per training step
    cosine, ///< lr * (1 + cos(pi * min(t, scheduleSteps) / scheduleSteps)) / 2: `CosineAnnealingLR` to 0
};

/// Hyperparameters with PyTorch's names and defaults.
struct OptimizerSettings {
    Optimizer kind = Optimizer::adam;
    std::optional<double> learningRate = {}; ///< empty: OptimizerInfo's
    double momentum = 0.9;                   ///< where usesMomentum
    bool nesterov = false;                   ///< where usesMomentum
    double beta1 = 0.9;                      ///< where usesBetas
    double beta2 = 0.999;                    ///< where usesBetas
    double alpha = 0.99;                     ///< where usesAlpha
    double epsilon = 1e-8;                   ///< where usesEpsilon
    /// Added to the gradient as weightDecay * w, or, where the optimizer decouplesDecay, to the step as
    /// rate * weightDecay * w. Empty: 0.01 where it decouplesDecay, else 0.
    std::optional<double> weightDecay = {};
    double l1 = 0; ///< adds l1 * sign(w) to the gradient (not in PyTorch's optimizers)
    Schedule schedule = Schedule::constant;
    std::uint64_t scheduleSteps = 1000;
    double scheduleGamma = 0.1;    ///< of `step`
    std::uint64_t warmupSteps = 0; ///< the rate is (t + 1) / warmupSteps of itself while t < warmupSteps

    double effectiveLearningRate() const; ///< learningRate, or the default
    double effectiveWeightDecay() const;
    std::size_t stateArrays() const { return infoOf(kind).states; } ///< as large as the arena each
    /// Throws std::invalid_argument that names the setting out of range (a negative or non-finite rate, a
    /// beta outside [0, 1), ...).
    void validate() const;

    bool operator==(const OptimizerSettings&) const = default;
};

struct TrainSettings {
    OptimizerSettings optimizer;
    std::size_t batch = 128;
    std::uint64_t seed = 1;
    bool shuffle = true;

    bool operator==(const TrainSettings&) const = default;
};

/// What changes from step to step, computed on the host in double: the examples and the optimizer's numbers.
struct StepSettings {
    std::uint64_t step = 0; ///< counted from 0
    BatchRange batch;
    shared::UpdateParams update{}; ///< the backend fills in `count` and `stride`
};

/// The learning rate of step t (from 0), schedule and warm-up included.
double learningRate(const OptimizerSettings& settings, std::uint64_t step);

StepSettings stepSettings(const TrainSettings& settings, const BatchOrder& order, std::uint64_t step);

std::string_view name(Schedule value);
Schedule scheduleFromName(std::string_view text);

} // namespace lockstep
