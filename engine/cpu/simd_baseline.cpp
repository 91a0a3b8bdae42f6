// `simd` with 4 floats per vector: SSE2, which every x86-64 processor has, or NEON, which every AArch64 has.
#include "engine/cpu/simd_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/net/activation.h"
#include "shaders/shared/tanh.h"

#define LOCKSTEP_VECTOR_BYTES 16
#define LOCKSTEP_TABLES baselineTables

#include "engine/cpu/simd/table.inl"
