#include "engine/cpu/simd_kernels.h"
#include "engine/cpu/population_kernels.h"
#include "engine/cpu/small_kernels.h"

namespace lockstep {

const SimdKernels& simdKernelsFor(VectorLevel level) {
#if defined(__x86_64__)
    if (level == VectorLevel::avx512) return simdAvx512();
    if (level == VectorLevel::avx2) return simdAvx2();
#endif
    static_cast<void>(level);
    return simdBaseline();
}

const SmallKernels& smallKernelsFor(VectorLevel level) {
#if defined(__x86_64__)
    if (level == VectorLevel::avx512) return smallAvx512();
    if (level == VectorLevel::avx2) return smallAvx2();
#endif
    static_cast<void>(level);
    return smallBaseline();
}

const CpuPopulationKernels& populationKernelsFor(VectorLevel level) {
#if defined(__x86_64__)
    if (level == VectorLevel::avx512) return populationAvx512();
    if (level == VectorLevel::avx2) return populationAvx2();
#endif
    static_cast<void>(level);
    return populationBaseline();
}

const CpuKernels& simdKernels() {
    static const SimdKernels& kernels = simdKernelsFor(vectorLevel());
    return kernels.table;
}

} // namespace lockstep
