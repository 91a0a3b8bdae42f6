// The operations of a training step on a processor. Every thread of a team has its own CpuOps and walks
// through the whole recipe (step.cpp) on its own share:
//
//   gatherBatch, dense, lossAndGradient, input gradients    its rows of the batch; rows are independent, so
//                                                           nobody waits for anybody
//   weight gradients, update                                its output rows of every layer's weights, which
//                                                           need all rows of the batch: a barrier comes first
//
// A step waits twice, however many layers there are: before the weight gradients, and at its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/cpu/thread_team.h"
#include "engine/train/cpu_kitchen.h"
#include "engine/train/cpu_timing.h"

namespace lockstep {

/// One thread's view onto the arenas of a training run.
class CpuOps final : public CpuKitchen {
  public:
    /// `timing` may be null: only one thread holds the watch. All references must outlive the object.
    CpuOps(CpuArenas& arenas, ThreadTeam& team, std::size_t thread, CpuTiming* timing);

    void gatherBatch(const StepSettings& step) override;
    void dense(std::size_t layer) override;
    void lossAndGradient(const StepSettings& step) override;
    void denseBackward(std::size_t layer) override;
    void exchange() override;
    void update(const StepSettings& step) override;
    void gatherRange(Split split, std::size_t first, std::size_t rows) override;
    void score() override;

    std::size_t capacity() const override { return arenas_.capacity; }
    Share ownRows() const override { return rows_; }
    void copyOutputs(float* to) const override;
    std::vector<float> tensor(const TensorId& id, std::size_t floats) const override;

  private:
    void takeRows(std::size_t rows);
    LossShape lossShape() const;
    void backwardInputs(std::size_t layer);
    void backwardWeights(std::size_t layer);
    void updateSlice(const StepSettings& step, std::size_t begin, std::size_t end);
    void settleLoss();
    Share ownOutputs(std::size_t layer) const;
    void lap(CpuOperation operation, const Work& work, std::size_t layer = 0);

    CpuArenas& arenas_;
    ThreadTeam& team_;
    const std::size_t thread_;
    CpuTiming* timing_;

    std::size_t batchRows_ = 0; ///< of all threads together
    Share rows_;                ///< of this thread
    float keep_ = 1;            ///< folded update: what stays of a weight ...
    float rate_ = 0;            ///< ... and how much of the gradient is taken off
};

} // namespace lockstep
