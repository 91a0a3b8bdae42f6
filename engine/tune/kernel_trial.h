// Kernels on trial over random numbers: checked against the processor first, then timed.
#pragma once

#include <deque>
#include <vector>

#include "engine/cpu/kernels.h"
#include "engine/gpu/recorder.h"
#include "engine/net/param_layout.h"
#include "engine/net/plain_ops.h"
#include "engine/net/settings.h"
#include "engine/step/dense_kernel.h"

namespace lockstep {

/// How a kernel did on a trial.
struct TrialResult {
    double milliseconds = 0;      ///< of one call, the best of a few; not timed when the check failed
    double largestDifference = 0; ///< from the processor's results, relative to the largest of them
    double tolerance = 0;         ///< how far rounding of sums of that length may take them
    bool hopeless = false;        ///< given up before its end: nothing else is known
    bool verified() const { return !hopeless && largestDifference <= tolerance; }
};

/// Random numbers on the host and on the device.
struct TrialOperand {
    /// asHalves   fp16 on the device; on the host, the numbers become what rounding leaves of them
    TrialOperand(gpu::Device& device, std::vector<float> numbers, bool asHalves = false);

    gpu::BufferView view() const { return buffer.view(0, bytes); }

    std::vector<float> values;
    std::uint64_t bytes; ///< on the device
    gpu::Buffer buffer;
};

/// One dense product, through any kernel.
class ProductTrial {
  public:
    /// shape        of the layer: rows of the batch, inputs, outputs, strides
    /// activation   the function applied (forward), or whose derivative is (backwardInputs)
    /// reference    computes the expected results
    /// half         for half-precision kernels: the numbers are fp16, and the tolerance includes the rounding
    ///              of results. Sums and results are off by at most 2^-11 of their size each, and no
    ///              activation enlarges that by more than 1.13 (gelu's steepest slope).
    /// cancelled    once it is set, this and measure() throw gpu::Cancelled; null: never
    ProductTrial(gpu::Device& device, Product product, const DenseShape& shape, Activation activation,
                 const CpuKernels& reference = simdKernels(), bool half = false,
                 const std::atomic<bool>* cancelled = nullptr);

    /// Runs the kernel once and compares; then, if right, times it `rounds` times and keeps the best round.
    /// Gives up where it would take longer than `limit` milliseconds (0: none).
    TrialResult measure(const DenseKernel& kernel, int rounds, double limit = 0);

  private:
    void computeExpected(const CpuKernels& cpu);
    std::vector<float> download(const gpu::Buffer& buffer, std::size_t count) const;
    void dispatch(const DenseKernel& kernel);
    // Gradients of weights are floats in any precision.
    bool resultsAreHalves() const { return half_ && product_ != Product::backwardWeights; }
    double compare() const;

    const Product product_;
    const DenseShape shape_;
    const Activation activation_;
    const bool half_;
    // A and B of the product, the bias (forward) or what the derivative is computed from (backwardInputs).
    TrialOperand a_;
    TrialOperand b_;
    TrialOperand third_;
    std::vector<float> expected_;
    std::vector<float> expectedSecond_; // bias gradients, or sums where the activation keeps them
    gpu::Buffer result_;
    gpu::Buffer second_;     // sums (forward) or bias gradients (backwardWeights)
    gpu::Recorder recorder_; // last, so that it ends first: its work uses the buffers
};

/// The weight gradients of a layer and the optimizer's step with them, by a kernel that folds both into one;
/// and what the step costs by itself.
class UpdateTrial {
  public:
    /// `shape` as of the layer: rows of the batch, inputs, outputs, strides. `cancelled` as above.
    UpdateTrial(gpu::Device& device, const DenseShape& shape, Optimizer optimizer,
                const std::atomic<bool>* cancelled = nullptr);

    /// One step of the folded kernel, compared: parameters and state; then, if right, timed.
    TrialResult measureFolded(const DenseUpdateKernel& kernel, int rounds, double limit = 0);

    /// Milliseconds of the operation `update` on this layer's parameters, the best of a few.
    double measureUpdate(const gpu::Kernel<shared::UpdateParams>& kernel, int rounds);

  private:
    void uploadParameters();
    template <class Work> void forNumbers(Work work) const;
    void computeExpected();
    double compare() const;
    gpu::BufferView arena(std::size_t at) const;

    const DenseShape shape_;
    const LayerLayout layout_;
    const Optimizer optimizer_;
    const shared::UpdateParams step_;
    TrialOperand dSums_;
    TrialOperand inputs_;
    TrialOperand gradients_; // of measureUpdate
    gpu::Buffer status_;
    std::deque<TrialOperand> arenas_; // parameters, then state; on the host as the step finds them
    std::vector<std::vector<float>> expected_;
    gpu::Recorder recorder_; // last, so that it ends first: its work uses the buffers
};

} // namespace lockstep
