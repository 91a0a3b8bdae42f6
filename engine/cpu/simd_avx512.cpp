// `simd` with 16 floats per vector, for x86-64 processors with AVX-512.
#include "engine/cpu/simd_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "engine/net/activation.h"
#include "shaders/shared/tanh.h"

#define LOCKSTEP_VECTOR_BYTES 64
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"))),         \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")
#endif

#include "engine/cpu/simd/table.inl"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace lockstep {

const VectorTables& avx512Tables() { return vectorTables; }

} // namespace lockstep
#endif
