// To follow a product from the host to the device: dispatchProduct() launches it, denseParams() fills its
// push constants, constantsOf() sets its specialisation constants (Kernels::dense adds the activation), and
// shaderName() says which shader runs.
#include "engine/step/dense_kernel.h"

#include <algorithm>

#include "engine/plan/work.h"
#include "engine/step/shaders.h"

namespace lockstep {

namespace {

using gpu::asUint;

} // namespace

shared::DenseParams denseParams(const DenseShape& shape, const ProductPiece& piece) {
    return {.rows = asUint(shape.rows),
            .inputs = asUint(shape.inputs),
            .outputs = asUint(shape.outputs),
            .inputStride = asUint(shape.inputStride),
            .outputStride = asUint(shape.outputStride),
            .first = piece.first,
            .count = piece.count};
}

std::string_view name(Product product) {
    constexpr std::string_view names[] = {"dense", "dense_backward_inputs", "dense_backward_weights"};
    return names[static_cast<std::size_t>(product)];
}

ProductExtents extentsOf(Product product, const DenseShape& shape) {
    switch (product) {
    case Product::forward: return {asUint(shape.rows), asUint(shape.outputStride), asUint(shape.inputs)};
    case Product::backwardInputs:
        return {asUint(shape.rows), asUint(shape.inputStride), asUint(shape.outputs)};
    case Product::backwardWeights:
        return {asUint(shape.outputs), asUint(shape.inputStride), asUint(shape.rows)};
    }
    return {};
}

std::string ProductKernel::describe() const {
    const RungRow& row = rowOf(rung);
    std::string text(row.name());
    if (row.oneOutput) return text;
    if (half && !row.half) text = "half " + text;
    text += " " + std::to_string(tileM) + "x" + std::to_string(tileN) + ", group " + std::to_string(groupM) +
            "x" + std::to_string(groupN);
    if (slabK != 0) text += ", slab " + std::to_string(slabK);
    if (slices > 1) text += ", " + std::to_string(slices) + " slices";
    return text;
}

std::string shaderName(std::string_view operation, const ProductKernel& kernel) {
    const RungRow& row = rowOf(kernel.rung);
    std::string stem =
        std::string(operation) + "_" + std::string(row.name()) + (kernel.half && !row.half ? "_half" : "");
    std::ranges::replace(stem, '-', '_');
    return stem;
}

std::uint32_t ProductKernel::slabPadding() const {
    const std::uint32_t slab = std::max(slabK * slices, 1u);
    return rung == Rung::pipelined ? (shared::denseBanks + slab - 1) / slab : shared::densePadding;
}

std::uint64_t ProductKernel::sharedBytes() const {
    const std::uint64_t blockM = std::uint64_t{groupM} * tileM;
    const std::uint64_t blockN = std::uint64_t{groupN} * tileN;
    const std::uint64_t slab = std::uint64_t{slabK} * slices;
    if (rung != Rung::matrix)
        return (rung == Rung::pipelined ? 2 : 1) * 4 * slab * (blockM + blockN + 2 * slabPadding());
    // Which way a slab's rows lie depends on the product: the larger one.
    const auto halves = [&](std::uint64_t block) {
        return block * slab + std::max(block, slab) * shared::denseMatrixPadding;
    };
    return std::max(2 * 2 * (halves(blockM) + halves(blockN)), 4 * blockM * blockN) + 4 * blockM;
}

gpu::SpecConstants constantsOf(const ProductKernel& kernel, const gpu::Device& device) {
    gpu::SpecConstants constants{{shared::denseGroupSize, kernel.invocations()}};
    if (kernel.rung == Rung::one) return constants;
    constants[shared::denseGroupN] = kernel.groupN;
    if (!rowOf(kernel.rung).oneOutput) {
        constants[shared::denseTileM] = kernel.tileM;
        constants[shared::denseTileN] = kernel.tileN;
    }
    if (kernel.slabK > 0) constants[shared::denseSlabK] = kernel.slabK;
    if (kernel.sharers > 0) constants[shared::denseSharers] = kernel.sharers;
    if (kernel.slices > 1) constants[shared::denseSlices] = kernel.slices;
    if (kernel.rung == Rung::matrix) {
        const gpu::MatrixTile tile = device.limits().matrixTiles.tile();
        constants[shared::denseMatrixM] = tile.m;
        constants[shared::denseMatrixN] = tile.n;
        constants[shared::denseMatrixK] = tile.k;
    }
    return constants;
}

std::vector<ProductPiece> piecesOf(const ProductKernel& kernel, const ProductExtents& extents) {
    const std::uint32_t outputs = extents.m * extents.n;
    if (kernel.rung != Rung::one) return {{0, outputs}};
    const std::uint32_t most =
        std::max(asUint(mostLoopRounds) / (extents.k + 3), 1u); // 3: the loop's last test
    std::vector<ProductPiece> pieces;
    for (std::uint32_t first = 0; first < outputs; first += most)
        pieces.push_back({first, std::min(most, outputs - first)});
    return pieces;
}

void dispatchProduct(gpu::Recorder& recorder, const DenseKernel& kernel, const DenseShape& shape,
                     std::initializer_list<gpu::BufferView> views, const gpu::Cost& cost,
                     bool firstPieceOnly) {
    const ProductExtents extents = extentsOf(kernel.product, shape);
    const auto [m, n, k] = extents;
    const std::vector<ProductPiece> pieces = piecesOf(kernel.how, extents);
    // One item per output, which the recorder divides into workgroups of how.outputsPerGroup(); or one
    // invocation for all of them.
    const gpu::WorkItems items =
        kernel.how.rung == Rung::one ? gpu::WorkItems{1, 1, 1} : gpu::WorkItems{n, m, 1};
    constexpr std::size_t perSubmission = 8; // a longer one would block everything else on the device
    for (std::size_t at = 0; at < (firstPieceOnly ? 1 : pieces.size()); ++at) {
        const double share = pieces[at].count / (static_cast<double>(m) * n);
        recorder.dispatch(*kernel.pipeline, items, denseParams(shape, pieces[at]), views,
                          {cost.flops * share, cost.bytes * share, cost.tag, at > 0});
        if (at % perSubmission == perSubmission - 1 && at + 1 < pieces.size()) recorder.submitAndGoOn();
    }
}

void dispatchDenseUpdate(gpu::Recorder& recorder, const DenseUpdateKernel& kernel, const DenseShape& shape,
                         const shared::UpdateParams& update, const FoldedBuffers& buffers,
                         const gpu::Cost& cost) {
    const auto [m, n, k] = extentsOf(Product::backwardWeights, shape);
    const shared::DenseUpdateParams params{denseParams(shape, {0, m * n}), update};
    const auto& [dSums, inputs, status, parameters, state1, state2] = buffers;
    const std::initializer_list<gpu::BufferView> once{dSums, inputs, status, parameters, state1, state2};
    const std::initializer_list<gpu::BufferView> twice{dSums,  inputs,     status, parameters, state1,
                                                       state2, parameters, state1, state2};
    // Old values may be read through the texture units. The number of bindings would not tell:
    // AnyKernel::limitedLoops adds one to an edited shader with loops.
    const auto& bindings = kernel.info().bindings;
    const bool readsTexels =
        std::ranges::find(bindings, gpu::BindingKind::texels, &gpu::ShaderBinding::kind) != bindings.end();
    recorder.dispatch(kernel, {n, m, 1}, params, readsTexels ? twice : once, cost);
}

} // namespace lockstep
