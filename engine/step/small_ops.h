// The operations of a training step for networks that fit into the first-level cache: one thread, with the
// examples of a batch side by side in SIMD registers (engine/cpu/small_kernels.h). A step of a 2-8-8-1
// network is less than a microsecond of arithmetic. Handing it to a team of threads, packing panels or
// reading the clock would take longer than computing it.
//
// SmallOps runs the whole recipe of step.cpp. Only its memory layout differs from CpuOps: [neuron][example]
// instead of [example][neuron]. tests/cpu_small_test.cpp compares every kernel with the plain loops, and
// whole training runs with cpu:scalar.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/cpu/small_kernels.h"
#include "engine/step/cpu_backend.h"
#include "engine/step/cpu_timing.h"

namespace lockstep {

/// Whether SmallOps is the faster backend: activations and parameters fit into the cache together, and one
/// thread is enough. Depends only on the work, so that a repeated run computes the same bits.
bool fitsSmallOps(const NetShape& shape, std::size_t batch);

class SmallOps final : public CpuBackend {
  public:
    /// All references must outlive the object.
    SmallOps(CpuArenas& arenas, const SmallKernels& kernels, CpuTiming& timing);

    void gatherBatch(const StepSettings& step) override;
    void dense(std::size_t layer) override;
    void lossAndGradient(const StepSettings& step) override;
    void denseBackwardInputs(std::size_t layer) override;
    void denseBackwardWeights(std::size_t layer) override;
    void update(const StepSettings& step) override;
    bool foldsUpdate() const override { return arenas_.foldsUpdate; }
    void denseBackwardWeightsAndUpdate(std::size_t layer, const StepSettings& step) override;
    void gatherRange(Split split, std::size_t first, std::size_t rows) override;
    void score() override;

    void takeParts(Share) override {}
    void endStep() override {}
    std::size_t capacity() const override { return stride_; }
    Share ownRows() const override { return {0, rows_}; }
    void copyOutputs(float* to) override;
    std::vector<float> tensor(const TensorId& id, std::size_t floats) const override;

  private:
    /// Arrays of one layer, [outputs][stride_].
    struct Layer {
        AlignedArray<float> outputs;
        AlignedArray<float> sums; ///< empty unless the activation's derivative needs it
        AlignedArray<float> dSums;
    };

    SmallShape shapeOf(std::size_t layer) const;
    const float* below(std::size_t layer) const;
    const float* saved(std::size_t layer) const;
    void addWeightGradient(std::size_t layer, float keep, float add, float* target);
    void lap(CpuOperation operation, std::size_t layer = 0);

    CpuArenas& arenas_;
    const SmallKernels& kernels_;
    CpuTiming& timing_;
    const std::size_t stride_; ///< examples that the arrays have room for

    AlignedArray<float> inputs_;       ///< [inputs][stride_]
    AlignedArray<TargetWord> targets_; ///< [targetWidth][stride_]
    std::vector<Layer> layers_;

    std::size_t rows_ = 0; ///< of the current batch or range
};

} // namespace lockstep
