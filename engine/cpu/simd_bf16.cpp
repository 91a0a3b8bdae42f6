// Products in bf16, for x86-64 processors with AVX-512 BF16 (AMD from Zen 4, Intel from Cooper Lake).
#include "engine/cpu/bf16_products.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <iterator>

#include "engine/net/activation.h"
#include "shaders/shared/tanh.h"

#define LOCKSTEP_VECTOR_BYTES 64
// clang-format off
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512bf16,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512bf16,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")
#endif
#include "engine/cpu/simd/vectors.inl"
#include "engine/cpu/simd/math.inl"
#include "engine/cpu/simd/product.inl"
#include "engine/cpu/simd/layers.inl"
#include "engine/cpu/simd/product_bf16.inl"
// clang-format on

namespace lockstep {

constinit const Bf16Products bf16Products{
    .dense = denseInBf16,
    .denseBackwardInputs = denseBackwardInputsInBf16,
    .denseBackwardWeights = denseBackwardWeightsInBf16,
};

} // namespace lockstep
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#else

namespace lockstep {

constinit const Bf16Products bf16Products{};

} // namespace lockstep
#endif
