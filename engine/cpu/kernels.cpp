// Which table of functions serves which rung and which instruction set.
//
// The rung `best` is put together here: oneDNN's sgemm, which packs and tiles for the processor it finds, on
// the rows (or output rows) of the calling thread. All matrices are row-major, as oneDNN's C interface takes
// them:
//   C [M][N] = alpha op(A) [M][K] op(B) [K][N] + beta C
#include "engine/cpu/kernels.h"

#include <oneapi/dnnl/dnnl.h>

#include "engine/cpu/simd_kernels.h"

namespace lockstep {

namespace {

void plainBackwardWeights(const DenseShape& shape, const float* dSums, const float* inputs, std::size_t begin,
                          std::size_t end, float, float, float* dWeights, float* dBias) {
    plain::denseBackwardWeights(shape, dSums, inputs, begin, end, dWeights, dBias);
}

const VectorTables& widest() {
    static const VectorTables& tables = vectorTables(vectorLevel());
    return tables;
}

// A call costs a few microseconds before the first multiplication; below this many multiplications the
// `simd` kernels have finished by then.
constexpr std::size_t smallestLibraryProduct = 400'000;

bool worthACall(std::size_t rows, std::size_t columns, std::size_t depth) {
    return rows * columns * depth >= smallestLibraryProduct;
}

struct Matrix {
    const float* data;
    std::size_t stride;
    char transposed = 'N';
};

/// False if oneDNN failed, for lack of memory: the caller falls back to the `simd` kernels.
bool multiply(std::size_t rows, std::size_t columns, std::size_t depth, float alpha, const Matrix& a,
              const Matrix& b, float beta, float* c, std::size_t cStride) {
    const auto dimension = [](std::size_t value) { return static_cast<dnnl_dim_t>(value); };
    return dnnl_sgemm(a.transposed, b.transposed, dimension(rows), dimension(columns), dimension(depth),
                      alpha, a.data, dimension(a.stride), b.data, dimension(b.stride), beta, c,
                      dimension(cStride)) == dnnl_success;
}

void dense(const DenseShape& shape, const float* inputs, const float* weights, const float* bias,
           Activation activation, float* outputs, float* sums) {
    if (worthACall(shape.rows, shape.outputs, shape.inputs) &&
        multiply(shape.rows, shape.outputs, shape.inputs, 1, {inputs, shape.inputStride},
                 {weights, shape.inputStride, 'T'}, 0, outputs, shape.outputStride))
        widest().finishDense(shape, bias, activation, outputs, sums);
    else
        widest().simd.dense(shape, inputs, weights, bias, activation, outputs, sums);
}

void denseBackwardInputs(const DenseShape& shape, const float* dSums, const float* weights,
                         Activation previous, const float* saved, float* dPreviousSums) {
    if (worthACall(shape.rows, shape.outputs, shape.inputs) &&
        multiply(shape.rows, shape.inputs, shape.outputs, 1, {dSums, shape.outputStride},
                 {weights, shape.inputStride}, 0, dPreviousSums, shape.inputStride))
        widest().finishBackwardInputs(shape, previous, saved, dPreviousSums);
    else
        widest().simd.denseBackwardInputs(shape, dSums, weights, previous, saved, dPreviousSums);
}

// The padding of X is 0, so the padding of W can be part of the product.
void denseBackwardWeights(const DenseShape& shape, const float* dSums, const float* inputs, std::size_t begin,
                          std::size_t end, float keep, float scale, float* weights, float* bias) {
    if (worthACall(shape.rows, end - begin, shape.inputs) &&
        multiply(end - begin, shape.inputStride, shape.rows, scale, {dSums + begin, shape.outputStride, 'T'},
                 {inputs, shape.inputStride}, keep, weights + begin * shape.inputStride, shape.inputStride))
        widest().sumColumns(shape, dSums, begin, end, keep, scale, bias);
    else
        widest().simd.denseBackwardWeights(shape, dSums, inputs, begin, end, keep, scale, weights, bias);
}

} // namespace

const VectorTables& vectorTables([[maybe_unused]] VectorLevel level) {
#if defined(__x86_64__)
    if (level == VectorLevel::avx512) return avx512Tables;
    if (level == VectorLevel::avx2) return avx2Tables;
#endif
    return baselineTables;
}

const CpuKernels& scalarKernels() {
    static constexpr CpuKernels kernels{
        .name = "scalar",
        .gatherBatch = plain::gatherBatch<float>,
        .dense = plain::dense<float>,
        .lossAndGradient = plain::lossAndGradient<float>,
        .denseBackwardInputs = plain::denseBackwardInputs<float>,
        .denseBackwardWeights = plainBackwardWeights,
        .folds = false,
        .update = plain::update<float>,
        .score = plain::score<float>,
    };
    return kernels;
}

const CpuKernels& simdKernels() { return widest().simd; }

const CpuKernels& bestKernels() {
    static const CpuKernels kernels = [] {
        CpuKernels table = widest().simd;
        table.name = "best";
        table.dense = dense;
        table.denseBackwardInputs = denseBackwardInputs;
        table.denseBackwardWeights = denseBackwardWeights;
        return table;
    }();
    return kernels;
}

std::string describeKernels(const CpuKernels& kernels) {
    const std::string level = name(vectorLevel());
    if (&kernels == &scalarKernels()) return "plain loops, no vectors";
    if (&kernels == &simdKernels()) return "built-in kernels, " + level;
    const dnnl_version_t* version = dnnl_version();
    return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch) + " sgemm, " + level;
}

} // namespace lockstep
