// Which table of functions serves which rung and which instruction set.
#include "engine/cpu/kernels.h"
#include "engine/cpu/simd_kernels.h"

namespace lockstep {

namespace {

const VectorTables& tablesFor([[maybe_unused]] VectorLevel level) {
#if defined(__x86_64__)
    if (level == VectorLevel::avx512) return avx512Tables();
    if (level == VectorLevel::avx2) return avx2Tables();
#endif
    return baselineTables();
}

void plainBackwardWeights(const DenseShape& shape, const float* dSums, const float* inputs, std::size_t begin,
                          std::size_t end, float, float, float* dWeights, float* dBias) {
    plain::denseBackwardWeights(shape, dSums, inputs, begin, end, dWeights, dBias);
}

} // namespace

const SimdKernels& simdKernelsFor(VectorLevel level) { return tablesFor(level).simd; }
const SmallKernels& smallKernelsFor(VectorLevel level) { return tablesFor(level).small; }
const CpuPopulationKernels& populationKernelsFor(VectorLevel level) { return tablesFor(level).population; }
const MapKernels& mapKernelsFor(VectorLevel level) { return tablesFor(level).map; }

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

const CpuKernels& simdKernels() {
    static const CpuKernels& kernels = simdKernelsFor(vectorLevel()).table;
    return kernels;
}

} // namespace lockstep
