// What the processor's trainer asks of its kitchens, besides the operations of a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/cpu/thread_team.h"
#include "engine/step/cpu_arenas.h"
#include "engine/step/ops.h"
#include "engine/step/step_trace.h"

namespace lockstep {

/// One thread's kitchen. Parameters, gradients and the optimizer's state are the arenas'; what lies between
/// them belongs to the kitchen.
class CpuKitchen : public Ops {
  public:
    /// The last step's mean loss, the same on every thread after the step.
    float loss() const { return loss_; }
    /// The last step's loss was not finite; nothing was updated.
    bool failed() const { return failed_; }

    /// Which parts of a step are this thread's, from the next one on; a kitchen for one thread has but one.
    virtual void takeParts(Share parts) = 0;
    /// Rows that fit at once: a batch, or a part of an evaluation.
    virtual std::size_t capacity() const = 0;
    /// This thread's rows of the batch or range at hand, all its parts'.
    virtual Share ownRows() const = 0;
    /// The network's outputs for ownRows(): [rows][outputs], no padding.
    virtual void copyOutputs(float* to) = 0;
    /// The first `floats` floats of activations, targets (as words), sums or dSums, rows padded to four; of
    /// all threads' rows.
    virtual std::vector<float> tensor(const TensorId& id, std::size_t floats) const = 0;

    /// Forgets what score() added up, and sizes the confusion matrix.
    void beginEvaluation(std::size_t classes) {
        scored_ = {};
        confusion_.assign(classes * classes, 0);
    }
    /// This thread's part of the evaluation.
    const ScoreSum& scored() const { return scored_; }
    const std::vector<std::uint64_t>& confusion() const { return confusion_; }

  protected:
    /// Adds up what a call of CpuKernels::score found.
    void addScore(const ScoreSum& sum) {
        scored_.loss += sum.loss;
        scored_.correct += sum.correct;
    }
    std::uint64_t* confusionCounts() { return confusion_.empty() ? nullptr : confusion_.data(); }

    float loss_ = 0;
    bool failed_ = false;

  private:
    ScoreSum scored_;
    std::vector<std::uint64_t> confusion_;
};

} // namespace lockstep
