// One dense product of random numbers, run through any kernel: checked against the processor first, then
// timed.
#pragma once

#include <vector>

#include "engine/cpu/kernels.h"
#include "engine/gpu/recorder.h"
#include "engine/net/plain_ops.h"
#include "engine/step/kernels.h"

namespace lockstep {

/// How a kernel did on a trial.
struct TrialResult {
    double milliseconds =
        0; ///< of one call, the best of a few; 0 when it was not timed because the check failed
    double largestDifference = 0; ///< from the processor's results, relative to the largest of them
    double tolerance = 0;         ///< what rounding of sums of that length may amount to
    bool verified() const { return largestDifference <= tolerance; }
};

class ProductTrial {
  public:
    /// `shape` as of the layer: rows of the batch, inputs, outputs, strides. `activation` is the function
    /// applied (forward) or whose derivative is (backwardInputs); backwardWeights has none.
    /// What is right comes from `reference`. `half`: for kernels of half precision, the numbers are halves,
    /// and the tolerance includes the rounding of results: sums and what becomes of them are off by at most
    /// 2^-11 of their size each, which no activation makes larger by more than 1.13 (gelu's steepest slope).
    ProductTrial(gpu::Device& device, Product product, const DenseShape& shape, Activation activation,
                 const CpuKernels& reference = simdKernels(), bool half = false);

    /// Runs the kernel once and compares; then, if right, times it `rounds` times and keeps the best round.
    TrialResult measure(const DenseKernel& kernel, int rounds);

    /// Floating-point operations of one call.
    double flops() const;

  private:
    void computeExpected(const CpuKernels& cpu);
    void upload(gpu::Buffer& buffer, std::vector<float>& values, bool asHalves) const;
    std::vector<float> download(const gpu::Buffer& buffer, std::size_t count) const;
    void dispatch(const DenseKernel& kernel);
    // Gradients of weights are floats whatever the precision.
    bool resultsAreHalves() const { return half_ && product_ != Product::backwardWeights; }
    double compare() const;

    const Product product_;
    const DenseShape shape_;
    const Activation activation_;
    const bool half_;
    // A and B of the product, the bias (forward) or what the derivative is computed from (backwardInputs).
    std::vector<float> a_;
    std::vector<float> b_;
    std::vector<float> third_;
    std::vector<float> expected_;
    std::vector<float> expectedSecond_; // bias gradients, or sums where the activation keeps them
    gpu::Buffer aBuffer_;
    gpu::Buffer bBuffer_;
    gpu::Buffer thirdBuffer_;
    gpu::Buffer result_;
    gpu::Buffer second_;     // sums (forward) or bias gradients (backwardWeights)
    gpu::Recorder recorder_; // last, so that it ends first: its work uses the buffers
};

} // namespace lockstep
