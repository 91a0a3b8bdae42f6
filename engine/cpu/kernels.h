// The CPU's kernels: one table of functions per rung of the ladder. All tables keep the contracts of
// net/plain_ops.h, whose loops are the first rung; a higher rung computes the same, only faster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/net/dataset.h"
#include "engine/net/plain_ops.h"
#include "engine/net/settings.h"

namespace lockstep {

class ThreadTeam;

/// Shapes, strides and formulas: net/plain_ops.h. A function works on the thread that calls it. Several
/// threads may call it at once for different rows (or output rows). None of them throws.
struct CpuKernels {
    const char* name; ///< "scalar", "simd", "best", "bf16"

    void (*gatherBatch)(const Dataset& data, const Examples& examples, const BatchOrder& order,
                        const BatchRange& batch, std::size_t rowBegin, std::size_t rowEnd, std::size_t stride,
                        float* inputs, TargetWord* targets);

    void (*dense)(const DenseShape& shape, const float* inputs, const float* weights, const float* bias,
                  Activation activation, float* outputs, float* sums);

    double (*lossAndGradient)(const LossShape& shape, const float* outputs, const float* saved,
                              const TargetWord* targets, float* dSums);

    void (*denseBackwardInputs)(const DenseShape& shape, const float* dSums, const float* weights,
                                Activation previous, const float* saved, float* dPreviousSums);

    /// For outputs [outputBegin, outputEnd):
    ///   W = keep W + scale dZ^T X,  b = keep b + scale (column sums of dZ)
    /// Gradients are made with keep 0 and scale 1; then W and b are not read. Keep 1 adds to those that are
    /// there. Where the table `folds`, keep 1 - lr l2 and scale -lr is plain SGD: the gradient never exists
    /// in memory.
    void (*denseBackwardWeights)(const DenseShape& shape, const float* dSums, const float* inputs,
                                 std::size_t outputBegin, std::size_t outputEnd, float keep, float scale,
                                 float* weights, float* bias);
    bool folds; ///< takes any keep and scale, not only 0 and 1

    /// However rows, output rows and columns are divided into calls, the results are the same bits.
    bool anyCut;

    void (*update)(Optimizer optimizer, const shared::UpdateParams& params, std::size_t begin,
                   std::size_t end, const float* gradients, float* weights, float* state1, float* state2);

    ScoreSum (*score)(const LossShape& shape, std::size_t classes, const float* outputs,
                      const TargetWord* targets, std::uint64_t* confusion);
};

/// The plain loops themselves: no vectors, one value at a time.
const CpuKernels& scalarKernels();
/// This project's SIMD kernels, as wide as the processor's vectors, with products from register tiles.
const CpuKernels& simdKernels();
/// `simd`, with oneDNN's matrix products where this build has oneDNN, its products are faster, and they are
/// large enough to be worth a library call.
const CpuKernels& bestKernels();
/// `simd`, with products of numbers that are rounded to bf16. Only where hasBf16Instructions().
const CpuKernels& bf16Kernels();
/// What evaluates a network that a table trains: the table itself, or `simd` for the one that rounds.
const CpuKernels& exactKernels(const CpuKernels& kernels);

/// What a table runs on, for people: "plain loops, no vectors", "built-in kernels, AVX-512", "built-in
/// kernels and oneDNN 2.6.3 sgemm, AVX-512".
std::string describeKernels(const CpuKernels& kernels);

/// The most that this processor can do, which no kernel can pass: fp32 multiply-adds in registers, with the
/// widest vectors that the kernels use, on every thread of `team` at the same time: the best of some rounds,
/// in GFLOP/s. Takes half a second.
double roofGflops(ThreadTeam& team);

/// A copy of memory by every thread of `team`, in arrays far larger than the caches: the best of some rounds,
/// in GB/s read and written. Takes half a second, and 128 MiB.
double roofGigabytesPerSecond(ThreadTeam& team);

} // namespace lockstep
