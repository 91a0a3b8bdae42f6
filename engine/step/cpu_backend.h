// What both backends of the processor have in common: the memory, the loss of a step, the evaluation in
// progress, and the stopwatch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/cpu/thread_team.h"
#include "engine/step/cpu_arenas.h"
#include "engine/step/cpu_timing.h"
#include "engine/step/ops.h"

namespace lockstep {

/// One thread's backend. The arenas hold everything that it computes.
class CpuBackend : public Ops {
  public:
    /// The last step's mean loss, the same on every thread after the step.
    float loss() const { return loss_; }
    /// The last step's loss was not finite; no weight was updated.
    bool failed() const { return failed_; }
    /// How long this thread has waited for the others, in all its steps.
    double waitedSeconds() const { return waitedSeconds_; }

    /// Sets which parts of a step this thread computes, from the next step on: one at least.
    virtual void takeParts(Share) {}
    /// Waits until all threads have finished the step; only then may a thread begin the next one.
    virtual void endStep() {}
    void denseBackwardWeights(std::size_t layer) final {
        addWeightGradient(layer, addsPiece() ? 1 : 0, 1,
                          arenas_.gradients.data() + arenas_.gradientsOf(layer).begin);
    }
    /// w -= rate * (gradient + l2 * w).
    void denseBackwardWeightsAndUpdate(std::size_t layer, const StepSettings& step) final {
        const float rate = step.update.learningRate;
        addWeightGradient(layer, 1.0f - rate * step.update.l2, -rate,
                          arenas_.parameters.data() + arenas_.layout.layer(layer).weightOffset);
    }

    /// Clears what score() added up, and sizes the confusion matrix.
    void beginEvaluation(std::size_t classes);
    /// This thread's part of the evaluation.
    const ScoreSum& scored() const { return scored_; }
    const std::vector<std::uint64_t>& confusion() const { return confusion_; }

  protected:
    /// `timing` may be null: only one thread measures. References must outlive the object.
    CpuBackend(CpuArenas& arenas, CpuTiming* timing) : arenas_(arenas), timing_(timing) {}

    /// target = keep target + scale gradient, for the layer's weights and biases: they lie as in ParamLayout,
    /// from the first weight on.
    virtual void addWeightGradient(std::size_t layer, float keep, float scale, float* target) = 0;
    /// The operation at hand adds to what it did for an earlier piece of the batch.
    bool addsPiece() const { return planned() != nullptr && planned()->adds(); }
    /// Ends an operation of a plan: the time since the last one was its.
    void lap() {
        if (timing_ != nullptr && timing_->watching() && planned() != nullptr)
            timing_->lap(*planned(), arenas_.work, rows_);
    }
    /// The mean of the loss terms of a batch of so many rows; whether it is finite decides if the step may
    /// change weights.
    void setLoss(double sumOfTerms, std::size_t batchRows);
    /// Adds to the evaluation; outputs and targets row by row.
    void addScore(const LossShape& shape, const float* outputs, const TargetWord* targets);

    CpuArenas& arenas_;
    CpuTiming* const timing_;
    std::size_t rows_ = 0; ///< of the current batch or range, of all threads together
    bool failed_ = false;
    double waitedSeconds_ = 0;

  private:
    float loss_ = 0;
    ScoreSum scored_;
    std::vector<std::uint64_t> confusion_;
};

} // namespace lockstep
