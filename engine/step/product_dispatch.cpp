#include "engine/step/product_dispatch.h"

#include <algorithm>

namespace lockstep {

namespace {

std::uint32_t number(std::size_t value) { return static_cast<std::uint32_t>(value); }

// Of the product C[m][n] = sum_k A[m][k] B[k][n]; see Product.
struct Extents {
    std::uint32_t m;
    std::uint32_t n;
    std::uint32_t k;
};

Extents extentsOf(Product product, const DenseShape& shape) {
    switch (product) {
    case Product::forward: return {number(shape.rows), number(shape.outputStride), number(shape.inputs)};
    case Product::backwardInputs:
        return {number(shape.rows), number(shape.inputStride), number(shape.outputs)};
    case Product::backwardWeights:
        return {number(shape.outputs), number(shape.inputStride), number(shape.rows)};
    }
    return {};
}

shared::DenseParams paramsOf(const DenseShape& shape, const ProductPiece& piece) {
    return {number(shape.rows),
            number(shape.inputs),
            number(shape.outputs),
            number(shape.inputStride),
            number(shape.outputStride),
            piece.first,
            piece.count};
}

} // namespace

void dispatchProduct(gpu::Recorder& recorder, const DenseKernel& kernel, const DenseShape& shape,
                     std::initializer_list<gpu::BufferView> views, const gpu::Cost& cost,
                     bool firstPieceOnly) {
    const auto [m, n, k] = extentsOf(kernel.product, shape);
    const std::vector<ProductPiece> pieces = piecesOf(kernel.how, m, n, k);
    if (pieces.size() == 1) {
        const bool single = kernel.how.rung == "one";
        recorder.dispatch(*kernel.pipeline, single ? gpu::WorkItems{1, 1, 1} : gpu::WorkItems{n, m, 1},
                          paramsOf(shape, pieces.front()), views, cost);
        return;
    }
    for (std::size_t at = 0; at < (firstPieceOnly ? 1 : pieces.size()); ++at) {
        const double share = pieces[at].count / (static_cast<double>(m) * n);
        recorder.dispatch(*kernel.pipeline, {1, 1, 1}, paramsOf(shape, pieces[at]), views,
                          {cost.flops * share, cost.bytes * share, cost.tag, at > 0});
        if (at % piecesPerSubmission == piecesPerSubmission - 1 && at + 1 < pieces.size())
            recorder.submitAndGoOn();
    }
}

void dispatchDenseUpdate(gpu::Recorder& recorder, const Kernels::DenseUpdate& kernel, const DenseShape& shape,
                         const shared::UpdateParams& update, const FoldedBuffers& buffers,
                         const gpu::Cost& cost) {
    const auto [m, n, k] = extentsOf(Product::backwardWeights, shape);
    const shared::DenseUpdateParams params{paramsOf(shape, {0, m * n}), update};
    const auto& [dSums, inputs, status, parameters, state1, state2] = buffers;
    if (kernel.info().bindings.size() > 6) // what was there before is read by another way than it is written
        recorder.dispatch(kernel, {n, m, 1}, params,
                          {dSums, inputs, status, parameters, state1, state2, parameters, state1, state2},
                          cost);
    else
        recorder.dispatch(kernel, {n, m, 1}, params, {dSums, inputs, status, parameters, state1, state2},
                          cost);
}

} // namespace lockstep
