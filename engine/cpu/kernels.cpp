// Which table of functions serves which rung and which instruction set.
#include "engine/cpu/kernels.h"
#include "engine/cpu/map_kernels.h"
#include "engine/cpu/population_kernels.h"
#include "engine/cpu/simd_kernels.h"
#include "engine/cpu/small_kernels.h"

namespace lockstep {

namespace {

/// The table for the level, made by one of three functions.
template <class Table>
const Table& tableFor(VectorLevel level, const Table& (*baseline)(), const Table& (*avx2)(),
                      const Table& (*avx512)()) {
    if (level == VectorLevel::avx512) return avx512();
    if (level == VectorLevel::avx2) return avx2();
    return baseline();
}

} // namespace

#if defined(__x86_64__)
#define TABLES(stem) stem##Baseline, stem##Avx2, stem##Avx512
#else
#define TABLES(stem) stem##Baseline, stem##Baseline, stem##Baseline
#endif

const SimdKernels& simdKernelsFor(VectorLevel level) { return tableFor(level, TABLES(simd)); }
const SmallKernels& smallKernelsFor(VectorLevel level) { return tableFor(level, TABLES(small)); }
const CpuPopulationKernels& populationKernelsFor(VectorLevel level) {
    return tableFor(level, TABLES(population));
}
const MapKernels& mapKernelsFor(VectorLevel level) { return tableFor(level, TABLES(map)); }

#undef TABLES

const CpuKernels& scalarKernels() {
    static constexpr CpuKernels kernels{
        .name = "scalar",
        .gatherBatch = plain::gatherBatch<float>,
        .dense = plain::dense<float>,
        .lossAndGradient = plain::lossAndGradient<float>,
        .denseBackwardInputs = plain::denseBackwardInputs<float>,
        .denseBackwardWeights = plain::denseBackwardWeights<float>,
        .denseBackwardWeightsAndUpdate = nullptr,
        .update = plain::update<float>,
        .score = plain::score<float>,
    };
    return kernels;
}

const CpuKernels& simdKernels() {
    static const SimdKernels& kernels = simdKernelsFor(vectorLevel());
    return kernels.table;
}

} // namespace lockstep
