// The operations of a training step for networks that fit into the first-level cache: one thread, the
// examples of a batch side by side in vectors (engine/cpu/small_kernels.h), and nothing between two
// operations but a call. A step of 2-8-8-1 is less than a microsecond of arithmetic; handing it to a team,
// packing panels for it or asking what time it is takes longer than doing it.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/cpu/small_kernels.h"
#include "engine/step/cpu_kitchen.h"
#include "engine/step/cpu_timing.h"

namespace lockstep {

/// Whether SmallOps is the faster kitchen: activations and parameters fit beside each other, and one thread
/// is enough. A pure function of the work, so that a repeated run is cooked alike.
bool fitsSmallOps(const NetShape& shape, std::size_t batch);

class SmallOps final : public CpuKitchen {
  public:
    /// All references must outlive the object.
    SmallOps(CpuArenas& arenas, const SmallKernels& kernels, CpuTiming& timing);

    void gatherBatch(const StepSettings& step) override;
    void dense(std::size_t layer) override;
    void lossAndGradient(const StepSettings& step) override;
    void denseBackward(std::size_t layer) override;
    void exchange() override {}
    void update(const StepSettings& step) override;
    void gatherRange(Split split, std::size_t first, std::size_t rows) override;
    void score() override;

    void takeParts(Share) override {}
    std::size_t capacity() const override { return stride_; }
    Share ownRows() const override { return {0, rows_}; }
    void copyOutputs(float* to) override;
    std::vector<float> tensor(const TensorId& id, std::size_t floats) const override;

  private:
    /// Arrays of one layer, [outputs][stride_].
    struct Layer {
        AlignedArray<float> outputs;
        AlignedArray<float> sums; ///< only where the activation's derivative needs it
        AlignedArray<float> dSums;
    };

    SmallShape shapeOf(std::size_t layer) const;
    LossShape lossShape(std::size_t stride) const;
    const float* below(std::size_t layer) const;
    const float* saved(std::size_t layer) const;
    void lap(CpuOperation operation, std::size_t layer = 0);

    CpuArenas& arenas_;
    const SmallKernels& kernels_;
    CpuTiming& timing_;
    const std::size_t stride_; ///< examples that the arrays hold

    AlignedArray<float> inputs_;       ///< [inputs][stride_]
    AlignedArray<TargetWord> targets_; ///< [targetWidth][stride_]
    std::vector<Layer> layers_;

    std::size_t rows_ = 0; ///< of the batch or range at hand
    float keep_ = 1;       ///< folded update: what stays of a weight ...
    float rate_ = 0;       ///< ... and how much of the gradient is taken off
};

} // namespace lockstep
