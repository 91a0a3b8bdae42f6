// `simd` with 4 floats per vector: SSE2, which every x86-64 processor has, or NEON, which every AArch64 has.
#include "engine/cpu/map_kernels.h"
#include "engine/cpu/population_kernels.h"
#include "engine/cpu/simd_kernels.h"
#include "engine/cpu/small_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/net/activation.h"
#include "shaders/shared/tanh.h"

#define LOCKSTEP_VECTOR_BYTES 16

#include "engine/cpu/simd/table.inl"

namespace lockstep {

const SimdKernels& simdBaseline() { return simdTable; }
const SmallKernels& smallBaseline() { return smallTable; }
const MapKernels& mapBaseline() { return map::table; }
const CpuPopulationKernels& populationBaseline() { return populationTable; }

} // namespace lockstep
