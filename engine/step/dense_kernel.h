// The three matrix products of a dense layer on a Vulkan device: which shader computes a product
// (shaderName), its specialisation constants (constantsOf), and its launch (dispatchProduct). Kernels::dense
// (kernels.cpp) makes a pipeline of the first two.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/gpu/kernel.h"
#include "engine/gpu/recorder.h"
#include "engine/net/plain_ops.h"
#include "engine/net/settings.h"
#include "engine/step/rungs.h"
#include "shaders/shared/params.h"

namespace lockstep {

/// Each product is C[m][n] = sum_k A[m][k] B[k][n]:
///   forward          m rows,    n outputs, k inputs     "dense"
///   backwardInputs   m rows,    n inputs,  k outputs    "dense_backward_inputs"
///   backwardWeights  m outputs, n inputs,  k rows       "dense_backward_weights"
enum class Product { forward, backwardInputs, backwardWeights };

/// The operation's name, which is also the stem of its shaders' file names.
std::string_view name(Product product);

/// m, n (padded to the stride) and k of a product.
struct ProductExtents {
    std::uint32_t m;
    std::uint32_t n;
    std::uint32_t k;
};
ProductExtents extentsOf(Product product, const DenseShape& shape);

/// How a product is computed: which shader, and its specialisation (shaders/dense/dense_constants.glsl).
struct ProductKernel {
    Rung rung = Rung::naive;  ///< one that has kernels of its own
    std::uint32_t groupN = 8; ///< invocations of a workgroup along n (matrix: subgroups) ...
    std::uint32_t groupM = 8; ///< ... and along m
    std::uint32_t tileM = 1;  ///< outputs of one invocation (matrix: of one subgroup) along m ...
    std::uint32_t tileN = 1;  ///< ... and along n
    /// tiled, pipelined, matrix: values of k in a slab in shared memory, a multiple of four
    std::uint32_t slabK = 0;
    /// subgroup: invocations that share loads, gpu::Limits::broadcastInvocations at most; matrix: those of a
    /// subgroup
    std::uint32_t sharers = 0;
    /// fp16 operands and, except for weight gradients, results: tiled and texel can have them, matrix must
    bool half = false;
    /// tiled, pipelined: invocations that share the sum of an output (fits() has the sizes they need). The
    /// order of additions depends on their number alone, so kernels of different numbers differ in rounding.
    std::uint32_t slices = 1;

    /// Invocations of a workgroup.
    std::uint32_t invocations() const { return groupM * groupN * (rung == Rung::matrix ? sharers : slices); }
    /// Outputs that a workgroup computes, along n and along m.
    gpu::WorkItems outputsPerGroup() const { return {groupN * tileN, groupM * tileM, 1}; }
    /// Shared memory of a workgroup, at most: slabs of both operands with their padding, two each in
    /// pipelined kernels and those with matrices; there, sums are stored in their place in the end, and sums
    /// of rows.
    std::uint64_t sharedBytes() const;
    /// tiled, pipelined: floats of padding for each row of a slab. Pipelined kernels have those of four rows
    /// behind the fourth.
    std::uint32_t slabPadding() const;

    /// "blocked 16x16, group 8x1"; "tiled 8x8, group 8x8, slab 16", ", 4 slices".
    std::string describe() const;
    auto operator<=>(const ProductKernel&) const = default;
};

/// The stem of the shader's file: "dense_naive_strided".
std::string shaderName(std::string_view operation, const ProductKernel& kernel);

/// The specialisation constants of a kernel (shaders/dense/dense_constants.glsl), without its activation or
/// optimizer: Kernels adds those.
gpu::SpecConstants constantsOf(const ProductKernel& kernel, const gpu::Device& device);

/// A product's pipeline (it belongs to Kernels), and what is needed to dispatch it.
struct DenseKernel {
    const gpu::Kernel<shared::DenseParams>* pipeline = nullptr;
    Product product = Product::forward;
    ProductKernel how;
};

/// The product of backwardWeights, and the optimizer's step with it.
using DenseUpdateKernel = gpu::Kernel<shared::DenseUpdateParams>;

/// What one dispatch of a product computes: all of it, except on the rung `one`. There a single invocation
/// takes the product in pieces that end soon enough: software drivers silently end a shader's loops after
/// 65,535 iterations, and systems reset a GPU that is busy for seconds.
struct ProductPiece {
    std::uint32_t first = 0; ///< outputs [first, first + count), counted row by row
    std::uint32_t count = 0;
};

/// The pieces of a product: one for every rung but `one`.
std::vector<ProductPiece> piecesOf(const ProductKernel& kernel, const ProductExtents& extents);

/// The push constants of a piece of a product; of all of it by default.
shared::DenseParams denseParams(const DenseShape& shape, const ProductPiece& piece = {});

/// Records a product of a layer. Its buffers (shaders/dense/<rung>/<operation>_<rung>.comp explains them):
///   forward          inputs, weights, bias, outputs, sums (or outputs again, where none are kept)
///   backwardInputs   dSums, weights, saved, dPreviousSums
///   backwardWeights  dSums, inputs, dWeights, dBias
/// The rung `one` takes many dispatches, and submits them every few (Recorder::submitAndGoOn) except the
/// last. With `firstPieceOnly` it records a single one, to get the pipeline compiled.
void dispatchProduct(gpu::Recorder& recorder, const DenseKernel& kernel, const DenseShape& shape,
                     std::initializer_list<gpu::BufferView> views, const gpu::Cost& cost = {},
                     bool firstPieceOnly = false);

/// What a folded update works on, all of one layer: its weights, then its bias (GpuArenas::layerOf).
struct FoldedBuffers {
    gpu::BufferView dSums;
    gpu::BufferView inputs;
    gpu::BufferView status; ///< see shaders/step/loss_ring.glsl
    gpu::BufferView parameters;
    gpu::BufferView state1; ///< the parameters again, where the optimizer keeps none
    gpu::BufferView state2; ///< likewise
};

/// Records the weight gradients of a layer and the optimizer's step with them.
void dispatchDenseUpdate(gpu::Recorder& recorder, const DenseUpdateKernel& kernel, const DenseShape& shape,
                         const shared::UpdateParams& update, const FoldedBuffers& buffers,
                         const gpu::Cost& cost = {});

} // namespace lockstep
