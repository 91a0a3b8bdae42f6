// Which table of functions serves which rung and which instruction set.
#include "engine/cpu/kernels.h"

#include <vector>

#include "engine/cpu/bf16_products.h"
#include "engine/cpu/library_products.h"
#include "engine/cpu/simd_kernels.h"

namespace lockstep {

namespace {

// The plain loops store gradients; those of a batch's later pieces are added to the earlier ones' afterwards.
void plainBackwardWeights(const DenseShape& shape, const float* dSums, const float* inputs, std::size_t begin,
                          std::size_t end, float keep, float, float* dWeights, float* dBias) {
    if (keep == 0) return plain::denseBackwardWeights(shape, dSums, inputs, begin, end, dWeights, dBias);
    std::vector<float> weights(end * shape.inputStride);
    std::vector<float> bias(end);
    plain::denseBackwardWeights(shape, dSums, inputs, begin, end, weights.data(), bias.data());
    for (std::size_t at = begin * shape.inputStride; at < weights.size(); ++at) dWeights[at] += weights[at];
    for (std::size_t at = begin; at < end; ++at) dBias[at] += bias[at];
}

} // namespace

const VectorTables& vectorTables([[maybe_unused]] VectorLevel level) {
#if defined(__x86_64__)
    if (level == VectorLevel::avx512) return avx512Tables;
    if (level == VectorLevel::avx2) return avx2Tables;
#endif
    return baselineTables;
}

const VectorTables& widestTables() {
    static const VectorTables& tables = vectorTables(vectorLevel());
    return tables;
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
        .anyCut = true,
        .update = plain::update<float>,
        .score = plain::score<float>,
    };
    return kernels;
}

const CpuKernels& simdKernels() { return widestTables().simd; }

const CpuKernels& bestKernels() {
    static const CpuKernels kernels = [] {
        CpuKernels table = widestTables().simd;
        table.name = "best";
        useLibraryProducts(table);
        return table;
    }();
    return kernels;
}

const CpuKernels& bf16Kernels() {
    static const CpuKernels kernels = [] {
        CpuKernels table = simdKernels();
        table.name = "bf16";
        table.dense = bf16Products.dense;
        table.denseBackwardInputs = bf16Products.denseBackwardInputs;
        table.denseBackwardWeights = bf16Products.denseBackwardWeights;
        return table;
    }();
    return kernels;
}

const CpuKernels& exactKernels(const CpuKernels& kernels) {
    return &kernels == &bf16Kernels() ? simdKernels() : kernels;
}

std::string describeKernels(const CpuKernels& kernels) {
    const std::string level = name(vectorLevel());
    if (&kernels == &scalarKernels()) return "plain loops, no vectors";
    if (&kernels == &bf16Kernels()) return "built-in kernels, AVX-512 BF16, bf16, native";
    const std::string library = &kernels == &bestKernels() ? libraryName() : "";
    return (library.empty() ? "built-in kernels, " : "built-in kernels and " + library + ", ") + level;
}

} // namespace lockstep
