// oneDNN's sgemm packs and tiles for the processor it finds; here it works on the rows (or output rows) of
// the calling thread. All matrices are row-major, as its C interface takes them:
//   C [M][N] = alpha op(A) [M][K] op(B) [K][N] + beta C
#include "engine/cpu/library_products.h"

#if defined(LOCKSTEP_ONEDNN)
#include <oneapi/dnnl/dnnl.h>

#include "engine/cpu/simd_kernels.h"
#endif

namespace lockstep {

#if defined(LOCKSTEP_ONEDNN)

namespace {

// A call costs a few microseconds before the first multiplication; below this many multiplications the
// `simd` kernels have finished by then.
constexpr std::size_t smallestLibraryProduct = 400'000;

bool worthACall(std::size_t rows, std::size_t columns, std::size_t depth) {
    return rows * columns * depth >= smallestLibraryProduct;
}

struct LibraryMatrix {
    const float* data;
    std::size_t stride;
    char transposed = 'N';
};

/// False if oneDNN failed, for lack of memory: the caller falls back to the `simd` kernels.
bool multiply(std::size_t rows, std::size_t columns, std::size_t depth, float alpha, const LibraryMatrix& a,
              const LibraryMatrix& b, float beta, float* c, std::size_t cStride) {
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
        widestTables().finishDense(shape, bias, activation, outputs, sums);
    else
        widestTables().simd.dense(shape, inputs, weights, bias, activation, outputs, sums);
}

void denseBackwardInputs(const DenseShape& shape, const float* dSums, const float* weights,
                         Activation previous, const float* saved, float* dPreviousSums) {
    if (worthACall(shape.rows, shape.outputs, shape.inputs) &&
        multiply(shape.rows, shape.inputs, shape.outputs, 1, {dSums, shape.outputStride},
                 {weights, shape.inputStride}, 0, dPreviousSums, shape.inputStride))
        widestTables().finishBackwardInputs(shape, previous, saved, dPreviousSums);
    else
        widestTables().simd.denseBackwardInputs(shape, dSums, weights, previous, saved, dPreviousSums);
}

// The padding of X is 0, so the padding of W can be part of the product.
void denseBackwardWeights(const DenseShape& shape, const float* dSums, const float* inputs, std::size_t begin,
                          std::size_t end, float keep, float scale, float* weights, float* bias) {
    if (worthACall(shape.rows, end - begin, shape.inputs) &&
        multiply(end - begin, shape.inputStride, shape.rows, scale, {dSums + begin, shape.outputStride, 'T'},
                 {inputs, shape.inputStride}, keep, weights + begin * shape.inputStride, shape.inputStride))
        widestTables().sumColumns(shape, dSums, begin, end, keep, scale, bias);
    else
        widestTables().simd.denseBackwardWeights(shape, dSums, inputs, begin, end, keep, scale, weights,
                                                 bias);
}

} // namespace

// Behind a product of its own, `simd` finishes each panel while it is in the cache. With AVX-512 that makes
// its forward products the faster ones.
void useLibraryProducts(CpuKernels& simd) {
    if (vectorLevel() != VectorLevel::avx512) simd.dense = dense;
    simd.denseBackwardInputs = denseBackwardInputs;
    simd.denseBackwardWeights = denseBackwardWeights;
    simd.anyCut = false; // sgemm chooses its kernel, and with it the order of its sums, by a product's size
}

std::string libraryName() {
    const dnnl_version_t* version = dnnl_version();
    return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch) + " sgemm";
}

#else

void useLibraryProducts(CpuKernels&) {}

std::string libraryName() { return {}; }

#endif

} // namespace lockstep
