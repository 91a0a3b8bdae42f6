// The record of a training run for curves and files: losses, thinned out as they accumulate, and epochs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "engine/net/batch_order.h"
#include "engine/run/trainer.h"

namespace lockstep {

/// One epoch. Losses are means over all its examples; NaN if not evaluated or not seen completely.
struct EpochPoint {
    std::uint64_t epoch = 0; ///< counted from 1: epoch 1 has seen every example once
    double trainLoss = std::numeric_limits<double>::quiet_NaN();
    double testLoss = std::numeric_limits<double>::quiet_NaN();
    double testAccuracy = std::numeric_limits<double>::quiet_NaN();
    double seconds = 0; ///< training seconds up to its end, without evaluation
};

/// The losses of a run, in bounded memory: records steps at multiples of a stride, which doubles whenever
/// `capacity` points are full. With `keepEvery`, the stride is fixed and nothing is thinned out.
class Telemetry {
  public:
    /// The run starts at step `firstStep` (0 unless resumed). `capacity` is at least 2.
    explicit Telemetry(const BatchOrder& order, std::uint64_t keepEvery = 0, std::size_t capacity = 2048,
                       std::uint64_t firstStep = 0);

    /// Adds losses in the order of their steps; the last one of an epoch adds that epoch to epochs().
    void addLosses(std::span<const LossPoint> points);
    /// Continues from `step` after another state was restored. Forgets losses and epochs from there on.
    /// steps() and examples() stay, because that work was done.
    void moveTo(std::uint64_t step);
    /// Adds the evaluation to the last of epochs().
    void addEvaluation(double testLoss, double testAccuracy);

    /// The loss of every stride-th step, in order.
    const std::vector<LossPoint>& losses() const { return losses_; }
    /// All losses of the first steps, for comparing lanes.
    const std::vector<float>& opening() const { return opening_; }
    const std::vector<EpochPoint>& epochs() const { return epochs_; }
    std::uint64_t stride() const { return stride_; }
    /// The number of steps whose loss was added, and of examples they trained on.
    std::uint64_t steps() const { return steps_; }
    std::uint64_t examples() const { return examples_; }
    /// Exponential moving average over about 50 steps, bias-corrected; NaN before the first loss.
    double runningLoss() const { return running_.value(); }
    /// The same as it was before `step`, from the losses kept, each weighted by its stride; NaN without one.
    double runningLossBefore(std::uint64_t step) const { return runningBefore(step).value(); }

    static constexpr std::size_t openingSteps = 100;

  private:
    struct Running {
        double sum = 0;
        double weight = 0;

        double value() const { return weight > 0 ? sum / weight : std::numeric_limits<double>::quiet_NaN(); }
    };
    Running runningBefore(std::uint64_t step) const;

    void addToEpoch(const LossPoint& point, const BatchRange& batch);
    void keep(const LossPoint& point);
    void beginEpoch(std::uint64_t epoch) {
        epochUnderWay_ = epoch;
        epochLossSum_ = 0;
        epochRows_ = 0;
    }

    BatchOrder order_;
    std::uint64_t firstStep_ = 0; ///< of the opening
    bool fixedStride_ = false;
    std::size_t capacity_ = 2048;
    std::uint64_t stride_ = 1;
    std::vector<LossPoint> losses_;
    std::vector<float> opening_;
    std::vector<EpochPoint> epochs_;
    std::uint64_t steps_ = 0;
    std::uint64_t examples_ = 0;
    Running running_;
    std::uint64_t epochUnderWay_ = 0;
    double epochLossSum_ = 0;
    std::size_t epochRows_ = 0;
};

} // namespace lockstep
