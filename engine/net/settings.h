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

/// What a device leaves to the host's memory: a bit for each.
enum class Offload : std::uint32_t {
    none = 0,
    optimizer = 1,   ///< the optimizer's state: a step reads and writes each number of it once, in order
    activations = 2, ///< layers' outputs, from the forward to the backward pass (rewrite_offload.cpp)
    both = 3,
};
constexpr bool includes(Offload all, Offload part) {
    return (static_cast<std::uint32_t>(all) & static_cast<std::uint32_t>(part)) != 0;
}
constexpr Offload operator|(Offload a, Offload b) {
    return static_cast<Offload>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}

/// Remedies for a run that needs more memory than there is. Each has its price in time.
struct MemorySettings {
    /// With K, the outputs of every K-th layer are kept from the forward to the backward pass; the others are
    /// computed again (rewrite_recompute.cpp), to the same bits. 1: all are kept. The rungs `best` do without
    /// kernels for small networks and whole steps then, which round differently.
    std::size_t recompute = 1;
    /// Parts in which a batch is taken, one after the other (rewrite_micro_batches.cpp). The gradients are
    /// the same sums in another order: equal up to rounding.
    std::size_t accumulate = 1;
    Offload offload = Offload::none; ///< of a device; a processor computes in the host's memory

    /// Tensors of a batch that no operation needs at the same time share memory.
    bool shareMemory() const { return recompute > 1 || includes(offload, Offload::activations); }
    /// A step consists of other operations than the recipe's.
    bool changeSteps() const { return shareMemory() || accumulate > 1; }
    /// Throws std::invalid_argument for none of something, and for more parts than the batch has examples.
    void validate(std::size_t batch) const;

    bool operator==(const MemorySettings&) const = default;
};

/// The number format in which products read their operands.
enum class OperandFormat : std::uint32_t {
    fp32,
    tf32,
    bf16,
    fp16,
    fp8,  ///< e4m3 for activations and weights, e5m2 for gradients of sums
    fp64, ///< nothing is rounded to it: all of the training computes in it
};
/// What operands can be rounded to, and fp32.
inline constexpr OperandFormat allOperandFormats[] = {
    OperandFormat::fp32, OperandFormat::tf32, OperandFormat::bf16, OperandFormat::fp16, OperandFormat::fp8};

/// Which of a format's numbers stands for one that lies between two of them.
enum class RoundingMode : std::uint32_t {
    nearest,
    stochastic, ///< either, the nearer the more likely: the mean is the number itself
};
inline constexpr RoundingMode allRoundingModes[] = {RoundingMode::nearest, RoundingMode::stochastic};

/// Mixed precision, emulated: the numbers that products read are rounded to a format and stored as fp32
/// (rewrite_round.cpp). Sums, gradients of parameters and the optimizer's state stay fp32; so do parameters,
/// as long as there are `masterWeights`.
struct PrecisionSettings {
    OperandFormat format = OperandFormat::fp32;
    /// fp16 and fp8 round the gradients of sums times a power of two, which keeps small ones from becoming 0.
    bool lossScaling = true;
    /// The optimizer changes fp32 parameters, of which products read rounded copies. false: the parameters
    /// themselves are numbers of the format, and are rounded after each update. Updates that are small beside
    /// a parameter are then lost, unless `rounding` is stochastic. Without effect in fp32.
    bool masterWeights = true;
    RoundingMode rounding = RoundingMode::nearest; ///< of updated parameters, without masterWeights

    /// A step consists of other operations than the recipe's.
    bool rounds() const { return format != OperandFormat::fp32 && !wide(); }
    /// The whole step computes in fp64 (engine/run/double_trainer.h).
    bool wide() const { return format == OperandFormat::fp64; }
    /// Parameters are numbers of the format.
    bool storesParameters() const { return rounds() && !masterWeights; }
    /// Throws std::invalid_argument for parameters in a format in which none are stored: tf32 is how products
    /// read fp32, and fp8 would need a scale for each tensor.
    void validate() const;

    bool operator==(const PrecisionSettings&) const = default;
};

/// What part one of several ranks has in a training: a device, or a group of cores. All of them have the same
/// network, data, seed and batches, so the results are the same however many they are, up to rounding.
struct RankShare {
    std::size_t rank = 0;  ///< of this part, from 0
    std::size_t ranks = 1; ///< each takes a part of every batch (rewrite_share_batch.cpp)
    /// What a rank keeps its part of only, and not a whole copy: 0 nothing; 1 the optimizer's state; 2 that
    /// and the gradients, of which no more than two layers' are whole at once.
    std::size_t shard = 0;

    bool alone() const { return ranks == 1; }
    /// Throws std::invalid_argument for a rank that there is not, more ranks than examples in a batch, and
    /// other values of `shard`.
    void validate(std::size_t batch) const;

    bool operator==(const RankShare&) const = default;
};

struct TrainSettings {
    OptimizerSettings optimizer;
    std::size_t batch = 128;
    std::uint64_t seed = 1;
    bool shuffle = true;
    MemorySettings memory = {};
    PrecisionSettings precision = {};
    RankShare share = {}; ///< no part of the result, and so of no file

    /// Pieces in which all ranks together take a batch.
    std::size_t pieces() const { return share.ranks * memory.accumulate; }
    /// This rank has nothing to do in a batch of so few rows.
    bool idleFor(std::size_t rows) const {
        return std::min(pieces(), rows) <= share.rank * memory.accumulate;
    }
    /// A step stores its gradients, because they are added up over pieces of the batch.
    bool addsGradients() const { return pieces() > 1; }
    /// A step consists of other operations than the recipe's, or takes the batch otherwise than as a whole.
    bool changeSteps() const { return memory.changeSteps() || !share.alone(); }

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
std::string_view name(Offload value);
std::string_view name(OperandFormat value);
std::string_view name(RoundingMode value);
OperandFormat operandFormatFromName(std::string_view text);
RoundingMode roundingModeFromName(std::string_view text);
/// Parameters can be stored in it (PrecisionSettings::masterWeights).
constexpr bool canStoreParameters(OperandFormat format) {
    return format == OperandFormat::bf16 || format == OperandFormat::fp16;
}
Offload offloadFromName(std::string_view text);
Schedule scheduleFromName(std::string_view text);

} // namespace lockstep
