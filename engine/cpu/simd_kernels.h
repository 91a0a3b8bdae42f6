// The kernels that use vectors: all tables of an instruction set. simd/table.inl is compiled for each.
#pragma once

#include "engine/cpu/cpu_info.h"
#include "engine/cpu/kernels.h"
#include "engine/cpu/map_kernels.h"
#include "engine/cpu/population_kernels.h"
#include "engine/cpu/small_kernels.h"

namespace lockstep {

struct VectorTables {
    CpuKernels simd; ///< the rung's
    SmallKernels small;
    CpuPopulationKernels population;
    MapKernels map;
    // The elementwise halves that the rung `best` puts behind products of its own.
    /// outputs = f(outputs + bias); `sums` (may be null) receives what f was applied to.
    void (*finishDense)(const DenseShape& shape, const float* bias, Activation activation, float* outputs,
                        float* sums);
    /// dPreviousSums *= f'(saved).
    void (*finishBackwardInputs)(const DenseShape& shape, Activation previous, const float* saved,
                                 float* dPreviousSums);
    /// bias[o] = keep bias[o] + scale sum_r dZ[r][o] for outputs [begin, end); not read when keep is 0.
    void (*sumColumns)(const DenseShape& shape, const float* dSums, std::size_t begin, std::size_t end,
                       float keep, float scale, float* bias);
    /// `rounds` times `roundFlops` floating-point operations in registers (roofGflops).
    float (*multiplyAdds)(std::size_t rounds);
    std::size_t roundFlops;
};

extern const VectorTables baselineTables;
#if defined(__x86_64__)
extern const VectorTables avx2Tables;
extern const VectorTables avx512Tables;
#endif

/// The tables for an instruction set; the baseline's where this build has no such variant. Calling their
/// functions on a processor without its instructions is undefined: stay at or below vectorLevel().
const VectorTables& vectorTables(VectorLevel level);
/// Those of the processor at hand.
const VectorTables& widestTables();

} // namespace lockstep
