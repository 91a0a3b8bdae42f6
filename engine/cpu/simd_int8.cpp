// Products of 8-bit integers, for x86-64 processors with AVX-512 VNNI (AMD from Zen 4, Intel from Ice Lake).
#include "engine/cpu/int8_products.h"

#if defined(__x86_64__)
#include <immintrin.h>

// clang-format off
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512vnni,avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512vnni,avx512f,avx512bw,avx512dq,avx512vl")
#endif
// clang-format on

namespace lockstep {
namespace {

constexpr std::size_t bytes = 64; // of a vector

using Ints __attribute__((vector_size(bytes))) = std::int32_t;

/// The sum of all elements. (GCC 12 warns of its own _mm512_reduce_add_epi32.)
inline std::int32_t sumOfElements(Ints all) {
    const auto eight = __builtin_shufflevector(all, all, 0, 1, 2, 3, 4, 5, 6, 7) +
                       __builtin_shufflevector(all, all, 8, 9, 10, 11, 12, 13, 14, 15);
    const auto four =
        __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
    return (four[0] + four[1]) + (four[2] + four[3]);
}

/// `rows` x `outputs` sums at once. An element adds up four neighbours along the inputs, and all elements are
/// added at the end: integers have one sum, whatever their order. What follows the inputs is neither read nor
/// counted.
template <std::size_t rows, std::size_t outputs>
void multiplyTile(std::size_t inputs, std::size_t sumStride, const std::uint8_t* codes,
                  const std::int8_t* weights, std::int32_t* sums) {
    Ints parts[rows][outputs] = {};
    for (std::size_t i = 0; i < inputs; i += bytes) {
        const __mmask64 mask = inputs - i >= bytes ? ~__mmask64{0} : (__mmask64{1} << (inputs - i)) - 1;
        __m512i right[outputs];
#pragma GCC unroll 8
        for (std::size_t o = 0; o < outputs; ++o)
            right[o] = _mm512_maskz_loadu_epi8(mask, weights + o * inputs + i);
#pragma GCC unroll 8
        for (std::size_t row = 0; row < rows; ++row) {
            const __m512i left = _mm512_maskz_loadu_epi8(mask, codes + row * inputs + i);
#pragma GCC unroll 8
            for (std::size_t o = 0; o < outputs; ++o)
                parts[row][o] = reinterpret_cast<Ints>(
                    _mm512_dpbusd_epi32(reinterpret_cast<__m512i>(parts[row][o]), left, right[o]));
        }
    }
#pragma GCC unroll 8
    for (std::size_t row = 0; row < rows; ++row)
#pragma GCC unroll 8
        for (std::size_t o = 0; o < outputs; ++o) sums[row * sumStride + o] = sumOfElements(parts[row][o]);
}

template <std::size_t rows>
void multiplyRows(std::size_t inputs, std::size_t outputs, std::size_t sumStride, const std::uint8_t* codes,
                  const std::int8_t* weights, std::int32_t* sums) {
    std::size_t o = 0;
    for (; o + 4 <= outputs; o += 4)
        multiplyTile<rows, 4>(inputs, sumStride, codes, weights + o * inputs, sums + o);
    for (; o < outputs; ++o) multiplyTile<rows, 1>(inputs, sumStride, codes, weights + o * inputs, sums + o);
}

/// Some outputs at a time, whose weights stay in the first-level cache while all rows pass.
void multiply(std::size_t rows, std::size_t inputs, std::size_t outputs, const std::uint8_t* codes,
              const std::int8_t* weights, std::int32_t* sums) {
    constexpr std::size_t together = 16;
    for (std::size_t o = 0; o < outputs; o += together) {
        const std::size_t count = outputs - o < together ? outputs - o : together;
        const std::int8_t* some = weights + o * inputs;
        std::size_t row = 0;
        for (; row + 4 <= rows; row += 4)
            multiplyRows<4>(inputs, count, outputs, codes + row * inputs, some, sums + row * outputs + o);
        for (; row < rows; ++row)
            multiplyRows<1>(inputs, count, outputs, codes + row * inputs, some, sums + row * outputs + o);
    }
}

void encode(std::size_t count, const float* values, float scale, float zero, std::uint8_t* codes) {
    constexpr std::size_t floats = 16;
    const __m512 scales = _mm512_set1_ps(scale);
    const __m512 zeros = _mm512_set1_ps(zero);
    for (std::size_t at = 0; at < count; at += floats) {
        const auto mask = static_cast<__mmask16>(count - at < floats ? (1u << (count - at)) - 1u : 0xFFFFu);
        const __m512 steps = _mm512_div_ps(_mm512_maskz_loadu_ps(mask, values + at), scales);
        const __m512 q = _mm512_add_ps(
            _mm512_maskz_roundscale_ps(0xFFFF, steps, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), zeros);
        const __m512 cut = _mm512_maskz_min_ps(0xFFFF, _mm512_maskz_max_ps(0xFFFF, q, _mm512_setzero_ps()),
                                               _mm512_set1_ps(255));
        _mm512_mask_cvtepi32_storeu_epi8(codes + at, mask, _mm512_maskz_cvttps_epi32(0xFFFF, cut));
    }
}

} // namespace

constinit const Int8Products int8Products{.multiply = multiply, .encode = encode};

} // namespace lockstep
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#else

namespace lockstep {

constinit const Int8Products int8Products{};

} // namespace lockstep
#endif
