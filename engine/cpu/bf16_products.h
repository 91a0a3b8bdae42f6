// Products whose operands are rounded to bf16, computed by the processor's own instructions for them.
#pragma once

#include "engine/cpu/kernels.h"

namespace lockstep {

/// As the functions of CpuKernels of the same names; operands are fp32 in memory, sums are fp32.
struct Bf16Products {
    decltype(CpuKernels::dense) dense = nullptr;
    decltype(CpuKernels::denseBackwardInputs) denseBackwardInputs = nullptr;
    decltype(CpuKernels::denseBackwardWeights) denseBackwardWeights = nullptr;
};

/// Null where this build is for another architecture. Calling them on a processor without AVX-512 BF16 is
/// undefined: ask hasBf16Instructions() first.
extern const Bf16Products bf16Products;

} // namespace lockstep
