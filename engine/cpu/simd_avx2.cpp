// `simd` with 8 floats per vector, for x86-64 processors since about 2013.
#include "engine/cpu/simd_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "engine/net/activation.h"
#include "shaders/shared/tanh.h"

#define LOCKSTEP_VECTOR_BYTES 32
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif

#include "engine/cpu/simd/table.inl"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace lockstep {

const VectorTables& avx2Tables() { return vectorTables; }

} // namespace lockstep
#endif
