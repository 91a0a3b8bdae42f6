// What the CPU trainer needs of a backend besides the operations of a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/cpu/thread_team.h"
#include "engine/step/cpu_arenas.h"
#include "engine/step/ops.h"
#include "engine/step/step_trace.h"

namespace lockstep {

/// One thread's backend. The arenas hold parameters, gradients and the optimizer's state; a backend holds
/// what it computes in between.
class CpuBackend : public Ops {
  public:
    /// The last step's mean loss, the same on every thread after the step.
    float loss() const { return loss_; }
    /// The last step's loss was not finite; no weight was updated.
    bool failed() const { return failed_; }

    /// Sets which parts of a step this thread computes, from the next step on.
    virtual void takeParts(Share parts) = 0;
    /// Waits until all threads have finished the step; only then may a thread begin the next one.
    virtual void endStep() = 0;
    /// Rows that fit at once: a batch, or a chunk of an evaluation.
    virtual std::size_t capacity() const = 0;
    /// This thread's rows of the current batch or range.
    virtual Share ownRows() const = 0;
    /// Copies the network's outputs for ownRows(): [rows][outputs], no padding.
    virtual void copyOutputs(float* to) = 0;
    /// The first `floats` floats of activations, targets (as words), preactivations or their gradients, for
    /// all rows of the batch; rows are padded to a multiple of four.
    virtual std::vector<float> tensor(const TensorId& id, std::size_t floats) const = 0;

    /// Clears what score() added up, and sizes the confusion matrix.
    void beginEvaluation(std::size_t classes) {
        scored_ = {};
        confusion_.assign(classes * classes, 0);
    }
    /// This thread's part of the evaluation.
    const ScoreSum& scored() const { return scored_; }
    const std::vector<std::uint64_t>& confusion() const { return confusion_; }

  protected:
    /// Adds the result of a call of CpuKernels::score.
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
