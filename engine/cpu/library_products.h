// Matrix products by a library, where this build has one that is faster.
#pragma once

#include <string>

#include "engine/cpu/kernels.h"

namespace lockstep {

/// Replaces the functions of a `simd` table for which oneDNN's sgemm was measured to be faster on this
/// processor's vectors (docs/performance.md). Does nothing in a build without oneDNN.
void useLibraryProducts(CpuKernels& simd);

/// "oneDNN 2.6.3 sgemm"; empty in a build without it.
std::string libraryName();

} // namespace lockstep
