// The operations of a training step for networks that fit into the first-level cache: one thread, with the
// examples of a batch side by side in SIMD registers (engine/cpu/small_kernels.h). A step of a 2-8-8-1
// network is less than a microsecond of arithmetic. Handing it to a team of threads, packing panels or
// reading the clock would take longer than computing it.
//
// SmallOps carries out the same plans. Only its memory layout differs from CpuOps: [neuron][example]
// instead of [example][neuron]. cpu_small_test compares every kernel with the plain loops, and
// whole training runs with cpu:scalar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/cpu/small_kernels.h"
#include "engine/step/cpu_backend.h"

namespace lockstep {

/// Whether SmallOps is the faster backend: activations and parameters fit into the cache together, and one
/// thread is enough. Depends only on the work, so that a repeated run computes the same bits.
bool fitsSmallOps(const NetShape& shape, std::size_t batch);

class SmallOps final : public CpuBackend {
  public:
    /// The arenas are `byNeuron`. All references must outlive the object.
    SmallOps(CpuArenas& arenas, const SmallKernels& kernels, CpuTiming& timing);

    void gatherBatch(const StepSettings& step) override;
    void dense(std::size_t layer) override;
    void lossAndGradient(const StepSettings& step) override;
    void denseBackwardInputs(std::size_t layer) override;
    void update(const StepSettings& step, std::size_t first, std::size_t layers) override;
    void gatherRange(Split split, std::size_t first, std::size_t rows) override;
    void score() override;

  private:
    void takeRows(std::size_t rows);
    void gather(const Examples& examples, const std::uint32_t* chosen, std::size_t rows);
    const std::uint32_t* chosenBy(const BatchRange& batch);
    void addWeightGradient(std::size_t layer, float keep, float scale, float* target) override;

    const SmallKernels& kernels_;
    std::vector<SmallShape> shapes_;    ///< by layer, for rows_
    LossShape lossShape_;               ///< likewise
    std::vector<std::uint32_t> chosen_; ///< examples at the positions of `ordered_`: some batches ahead
    BatchRange ordered_;
};

} // namespace lockstep
