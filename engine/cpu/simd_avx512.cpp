// `simd` with 16 floats per vector, for x86-64 processors with AVX-512.
#include "engine/cpu/simd_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "engine/net/activation.h"
#include "shaders/shared/tanh.h"

#define LOCKSTEP_VECTOR_BYTES 64
#define LOCKSTEP_TABLES avx512Tables
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"))),         \
                             apply_to = function)
#include "engine/cpu/simd/table.inl"
#pragma clang attribute pop
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")
#include "engine/cpu/simd/table.inl"
#pragma GCC pop_options
#endif
#endif
