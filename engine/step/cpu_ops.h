// The operations of a training step on a processor. A step is cut into parts, as many as the team has
// threads. Every thread has its own CpuOps and walks through the whole recipe (step.cpp) on the parts that
// fall to it: one each, or more where fewer threads run (team_sizing.h). What is computed depends on the
// parts alone, not on who computes them:
//
//   gatherBatch, dense, lossAndGradient, input gradients    a part's rows of the batch; rows are independent,
//                                                           so nobody waits for anybody
//   weight gradients, update                                a part's output rows of every layer's weights;
//                                                           they need all rows of the batch: a barrier comes
//                                                           first
//
// A step waits twice, however many layers there are: before the weight gradients, and at its end. Only where
// a layer's weights are many, its products are cut by columns, with barriers between them: a product packs
// the matrix on its right before it multiplies, and with rows of its own every part packs all the weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/cpu/thread_team.h"
#include "engine/step/cpu_kitchen.h"
#include "engine/step/cpu_timing.h"

namespace lockstep {

/// One thread's view onto the arenas of a training run.
class CpuOps final : public CpuKitchen {
  public:
    /// `timing` may be null: only one thread holds the watch. All references must outlive the object.
    CpuOps(CpuArenas& arenas, ThreadTeam& team, CpuTiming* timing);

    /// Which parts of a step are this thread's, from the next one on.
    void takeParts(Share parts) override { parts_ = parts; }

    void gatherBatch(const StepSettings& step) override;
    void dense(std::size_t layer) override;
    void lossAndGradient(const StepSettings& step) override;
    void denseBackward(std::size_t layer) override;
    void exchange() override;
    void update(const StepSettings& step) override;
    void gatherRange(Split split, std::size_t first, std::size_t rows) override;
    void score() override;

    std::size_t capacity() const override { return arenas_.capacity; }
    Share ownRows() const override { return {rowsOf(parts_.begin).begin, rowsOf(parts_.end - 1).end}; }
    void copyOutputs(float* to) override;
    std::vector<float> tensor(const TensorId& id, std::size_t floats) const override;

  private:
    enum class Cut { rows, columns };

    Share rowsOf(std::size_t part) const { return shareOf(batchRows_, part, team_.size()); }
    /// Of a matrix [rows][width]; whole cache lines, so that no two parts write to the same one.
    Share columnsOf(std::size_t width, std::size_t part) const {
        return shareOf(width, part, team_.size(), 64 / sizeof(float));
    }
    /// What a part computes of a matrix [batch][width], by the present cut.
    struct Block {
        Share rows;
        Share columns;
    };
    Block blockOf(std::size_t width, std::size_t part) const {
        return cut_ == Cut::rows ? Block{rowsOf(part), {0, width}}
                                 : Block{{0, batchRows_}, columnsOf(width, part)};
    }
    Cut bestCut(std::size_t layer, std::size_t columns) const;
    void cutBy(Cut cut);
    void meetOthers();
    Share outputsOf(std::size_t layer, std::size_t part) const;
    LossShape lossShape(Share rows) const;
    template <class Work> void forParts(const Work& work) const {
        for (std::size_t part = parts_.begin; part < parts_.end; ++part) work(part);
    }
    void backwardInputs(std::size_t layer);
    void backwardWeights(std::size_t layer);
    void updateSlice(const StepSettings& step, std::size_t begin, std::size_t end);
    void settleLoss();
    void lap(CpuOperation operation, const Work& work, std::size_t layer = 0);

    CpuArenas& arenas_;
    ThreadTeam& team_;
    CpuTiming* timing_;

    Share parts_;
    std::size_t batchRows_ = 0; ///< of all parts together
    Cut cut_ = Cut::rows;       ///< of what was computed last
    float keep_ = 1;            ///< folded update: what stays of a weight ...
    float rate_ = 0;            ///< ... and how much of the gradient is taken off
};

} // namespace lockstep
