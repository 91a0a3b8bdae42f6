// Vectors of floats as the compiler's vector types: + - * / and comparisons work on whole vectors, and the
// result of a comparison selects element by element (mask ? a : b).
//
// The files of this folder are compiled once per instruction set: simd_baseline.cpp, simd_avx2.cpp and
// simd_avx512.cpp set LOCKSTEP_VECTOR_BYTES, switch the compiler to their instructions and include table.inl.
// Everything is in an unnamed namespace, so that the three never meet. Loops call nothing of the standard
// library that could be instantiated here with instructions of another processor.
#pragma once

namespace lockstep {
namespace {

#define LOCKSTEP_INLINE inline __attribute__((always_inline))

constexpr std::size_t elements = LOCKSTEP_VECTOR_BYTES / sizeof(float);
using Floats __attribute__((vector_size(LOCKSTEP_VECTOR_BYTES))) = float;
using Ints __attribute__((vector_size(LOCKSTEP_VECTOR_BYTES))) = std::int32_t;

/// All elements = value. (value - 0 is value for every float, also for -0, and costs nothing.)
LOCKSTEP_INLINE Floats splat(float value) { return value - Floats{}; }
LOCKSTEP_INLINE Floats splat(Floats values) { return values; }

/// 0, 1, 2, ...
LOCKSTEP_INLINE Ints elementNumbers() {
    Ints numbers{};
    for (std::size_t element = 0; element < elements; ++element)
        numbers[element] = static_cast<std::int32_t>(element);
    return numbers;
}

LOCKSTEP_INLINE Ints bitsOf(Floats value) { return reinterpret_cast<Ints>(value); }
LOCKSTEP_INLINE Floats floatsOf(Ints bits) { return reinterpret_cast<Floats>(bits); }

LOCKSTEP_INLINE Floats load(const float* from) {
    Floats value;
    __builtin_memcpy(&value, from, sizeof(value));
    return value;
}

LOCKSTEP_INLINE void store(float* to, Floats value) { __builtin_memcpy(to, &value, sizeof(value)); }

/// The first `count` elements (0 to elements) from memory, the others 0; nothing after them is touched.
LOCKSTEP_INLINE Floats loadFirst(const float* from, std::size_t count) {
#if LOCKSTEP_VECTOR_BYTES == 64
    if (count == elements) return load(from);
    return reinterpret_cast<Floats>(_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1u), from));
#elif LOCKSTEP_VECTOR_BYTES == 32
    if (count == elements) return load(from);
    const Ints mask = elementNumbers() < static_cast<std::int32_t>(count);
    return reinterpret_cast<Floats>(_mm256_maskload_ps(from, reinterpret_cast<__m256i>(mask)));
#else
    Floats value{};
    for (std::size_t element = 0; element < count; ++element) value[element] = from[element];
    return value;
#endif
}

/// The first `count` elements to memory; nothing after them is touched.
LOCKSTEP_INLINE void storeFirst(float* to, Floats value, std::size_t count) {
#if LOCKSTEP_VECTOR_BYTES == 64
    if (count == elements)
        return store(to, value); // loads can wait for a masked one until it is in the cache
    _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << count) - 1u), reinterpret_cast<__m512>(value));
#elif LOCKSTEP_VECTOR_BYTES == 32
    if (count == elements) return store(to, value); // a masked one takes dozens of cycles on some processors
    const Ints mask = elementNumbers() < static_cast<std::int32_t>(count);
    _mm256_maskstore_ps(to, reinterpret_cast<__m256i>(mask), reinterpret_cast<__m256>(value));
#else
    for (std::size_t element = 0; element < count; ++element) to[element] = value[element];
#endif
}

LOCKSTEP_INLINE Floats absolute(Floats value) { return floatsOf(bitsOf(value) & 0x7FFFFFFF); }
LOCKSTEP_INLINE Floats larger(Floats a, Floats b) { return a > b ? a : b; }

LOCKSTEP_INLINE Floats squareRoot(Floats value) {
#if LOCKSTEP_VECTOR_BYTES == 64
    // (The unmasked form trips a false warning in GCC 12.)
    return reinterpret_cast<Floats>(_mm512_maskz_sqrt_ps(0xFFFF, reinterpret_cast<__m512>(value)));
#elif LOCKSTEP_VECTOR_BYTES == 32
    return reinterpret_cast<Floats>(_mm256_sqrt_ps(reinterpret_cast<__m256>(value)));
#elif defined(__SSE2__)
    return reinterpret_cast<Floats>(_mm_sqrt_ps(reinterpret_cast<__m128>(value)));
#else
    for (std::size_t element = 0; element < elements; ++element)
        value[element] = __builtin_sqrtf(value[element]);
    return value;
#endif
}

/// The next `elements` bytes, as numbers from 0 to 255.
LOCKSTEP_INLINE Floats loadBytes(const std::uint8_t* from) {
#if LOCKSTEP_VECTOR_BYTES == 64
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return __builtin_convertvector(reinterpret_cast<Ints>(_mm512_maskz_cvtepu8_epi32(0xFFFF, bytes)), Floats);
#elif LOCKSTEP_VECTOR_BYTES == 32
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    return __builtin_convertvector(reinterpret_cast<Ints>(_mm256_cvtepu8_epi32(bytes)), Floats);
#else
    Ints numbers{};
    for (std::size_t element = 0; element < elements; ++element) numbers[element] = from[element];
    return __builtin_convertvector(numbers, Floats);
#endif
}

// Steps of transposing a block. A vector is seen as groups of four elements (one group in the baseline), and
// every group is treated alike.

/// Group j = the four floats at from + j * stride.
LOCKSTEP_INLINE Floats loadGroups(const float* from, std::size_t stride) {
#if LOCKSTEP_VECTOR_BYTES == 64
    __m512 groups = _mm512_castps128_ps512(_mm_loadu_ps(from));
    groups = _mm512_insertf32x4(groups, _mm_loadu_ps(from + stride), 1);
    groups = _mm512_insertf32x4(groups, _mm_loadu_ps(from + 2 * stride), 2);
    return reinterpret_cast<Floats>(_mm512_insertf32x4(groups, _mm_loadu_ps(from + 3 * stride), 3));
#elif LOCKSTEP_VECTOR_BYTES == 32
    const __m256 groups = _mm256_castps128_ps256(_mm_loadu_ps(from));
    return reinterpret_cast<Floats>(_mm256_insertf128_ps(groups, _mm_loadu_ps(from + stride), 1));
#else
    static_cast<void>(stride);
    return load(from);
#endif
}

/// Where element `number` of a group is in two vectors: 0 to 3 are those of the first, 4 to 7 of the second.
constexpr std::size_t inGroup(std::size_t group, std::size_t number) {
    return 4 * group + number + (number < 4 ? 0 : elements - 4);
}

/// Of each group: elements a to d.
template <std::size_t a, std::size_t b, std::size_t c, std::size_t d>
LOCKSTEP_INLINE Floats shuffleGroups(Floats x, Floats y) {
#if LOCKSTEP_VECTOR_BYTES == 64
    return __builtin_shufflevector(x, y, inGroup(0, a), inGroup(0, b), inGroup(0, c), inGroup(0, d),
                                   inGroup(1, a), inGroup(1, b), inGroup(1, c), inGroup(1, d), inGroup(2, a),
                                   inGroup(2, b), inGroup(2, c), inGroup(2, d), inGroup(3, a), inGroup(3, b),
                                   inGroup(3, c), inGroup(3, d));
#elif LOCKSTEP_VECTOR_BYTES == 32
    return __builtin_shufflevector(x, y, inGroup(0, a), inGroup(0, b), inGroup(0, c), inGroup(0, d),
                                   inGroup(1, a), inGroup(1, b), inGroup(1, c), inGroup(1, d));
#else
    return __builtin_shufflevector(x, y, a, b, c, d);
#endif
}

LOCKSTEP_INLINE Floats interleaveLow(Floats a, Floats b) { return shuffleGroups<0, 4, 1, 5>(a, b); }
LOCKSTEP_INLINE Floats interleaveHigh(Floats a, Floats b) { return shuffleGroups<2, 6, 3, 7>(a, b); }
LOCKSTEP_INLINE Floats joinLow(Floats a, Floats b) { return shuffleGroups<0, 1, 4, 5>(a, b); }
LOCKSTEP_INLINE Floats joinHigh(Floats a, Floats b) { return shuffleGroups<2, 3, 6, 7>(a, b); }

/// The sum of all elements, always added in the same order.
LOCKSTEP_INLINE float sumOfElements(Floats value) {
    float sum = 0;
    for (std::size_t element = 0; element < elements; ++element) sum += value[element];
    return sum;
}

LOCKSTEP_INLINE float largestElement(Floats value) {
    float largest = value[0];
    for (std::size_t element = 1; element < elements; ++element)
        largest = value[element] > largest ? value[element] : largest;
    return largest;
}

/// Columns [width, stride) of a row = 0.
LOCKSTEP_INLINE void clearPadding(float* row, std::size_t width, std::size_t stride) {
    for (std::size_t column = width; column < stride; ++column) row[column] = 0;
}

} // namespace
} // namespace lockstep
