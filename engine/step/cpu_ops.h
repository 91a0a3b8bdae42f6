// The operations of a training step on a CPU. A step is divided into parts, several per thread of the team.
// Every thread has its own CpuOps and walks through the whole plan of a step, computing the parts assigned
// to it: more on a fast core (work_shares.h), and where fewer threads run (team_sizing.h). The result depends
// on the parts alone, not on which thread computes them:
//
//   gatherBatch, dense, lossAndGradient,   a part is some rows of the batch. Rows are independent, so no
//   denseBackwardInputs                    thread waits
//   denseBackwardWeights, update           a part is some output rows of every layer's weights. They need
//                                          all rows of the batch, so a barrier comes first
//
// A step has two barriers, however many layers there are: before the weight gradients, and at its end. Layers
// with very many weights are the exception. Their products are cut by columns, with barriers in between: a
// product packs its right-hand matrix before it multiplies, and cut by rows, every part would pack all the
// weights.
#pragma once

#include <cstddef>

#include "engine/step/cpu_backend.h"

namespace lockstep {

/// One thread's view of the arenas of a training run.
class CpuOps final : public CpuBackend {
  public:
    /// `timing` may be null: only one thread measures. All references must outlive the object.
    CpuOps(CpuArenas& arenas, ThreadTeam& team, CpuTiming* timing);

    void takeParts(Share parts) override { parts_ = parts; }
    void endStep() override { meetOthers(); }

    void gatherBatch(const StepSettings& step) override;
    void dense(std::size_t layer) override;
    void lossAndGradient(const StepSettings& step) override;
    void denseBackwardInputs(std::size_t layer) override;
    void update(const StepSettings& step, std::size_t first, std::size_t layers) override;
    void carryOut(const PlannedOperation& operation, const StepSettings& step) override;
    void gatherRange(Split split, std::size_t first, std::size_t rows) override;
    void score() override;

  private:
    bool takesPieces() const override { return true; }
    void addWeightGradient(std::size_t layer, float keep, float scale, float* target) override;

    /// How the parts of an operation are cut: by rows of the batch, by columns of
    /// a layer, or by rows of its weights.
    enum class Cut { rows, columns, weights };

    void updateShard(const StepSettings& step, std::size_t layer);
    template <class Work> void leadExchange(const Work& work);
    void beginExchange(std::size_t layer, const StepSettings& step);
    void awaitExchange(std::size_t layer, const StepSettings& step);
    void gatherParameters(const StepSettings& step);
    bool exchanges() const { return arenas_.ranks && arenas_.exchanging; }
    /// The last layer's comes first, and the loss with it.
    bool isFirstExchange(std::size_t layer) const { return layer + 1 == arenas_.shape.layers(); }
    void roundBatch(const PlannedOperation& operation, float* values, std::size_t width);
    void roundWeights(const PlannedOperation& operation);
    void roundParameters(const PlannedOperation& operation, const StepSettings& step);
    std::uint32_t largestOfAll(const PlannedOperation& operation, std::uint32_t own);

    void gather(const Examples& examples, const BatchOrder& order, const BatchRange& batch);
    /// Those of `count` items that belong to some parts.
    Share itemsOf(std::size_t count, Share parts, std::size_t grain = 1) const {
        return {shareOf(count, parts.begin, arenas_.parts(), grain).begin,
                shareOf(count, parts.end - 1, arenas_.parts(), grain).end};
    }
    Share ownRows() const { return itemsOf(rows_, parts_); }
    Cut bestCut(std::size_t layer, std::size_t columns) const;
    void cutBy(Cut cut);
    void meetOthers();
    template <class Work> void forPieces(std::size_t count, std::size_t grain, const Work& work) const;
    template <class Work> void forBlocks(std::size_t width, const Work& work) const;
    template <class Work> void forOutputs(std::size_t layer, const Work& work) const;

    ThreadTeam& team_;
    Share parts_;
    Cut cut_ = Cut::rows;       ///< of the latest operation
    std::size_t batchRows_ = 0; ///< of the whole batch, whose loss the parts belong to
};

} // namespace lockstep
