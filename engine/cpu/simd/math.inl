// The functions of the formulas in shaders/shared/activations.h and optimizers.h for vectors, with relative
// errors of a few 1e-7; then the activations and their derivatives. NaN in gives NaN out.
#pragma once

namespace lockstep {
namespace {

/// x = n ln 2 + r with |r| <= ln 2 / 2, the start of every exponential.
struct Reduced {
    Floats r;
    Floats halfPower; ///< 2^(n - 1): a float where 2^n is too large for one; 0 where e^x < 1.7e-38
};

LOCKSTEP_INLINE Reduced reduceExponent(Floats x) {
    // At these ends e^x is infinite (n = 128) and 0 (n = -126, so that the exponent's bits are 0).
    x = x > 89.0f ? splat(89.0f) : x;
    x = x < -87.5f ? splat(-87.5f) : x;
    // Adding 1.5 * 2^23 rounds to an integer and leaves it in the lowest bits.
    constexpr float rounder = 12582912.0f;
    const Floats rounded = x * 1.44269504088896341f + rounder;
    const Floats n = rounded - rounder;
    const Ints exponent = bitsOf(rounded) - bitsOf(splat(rounder)) + 126;
    // ln 2 in two parts, the first with few enough bits that n times it is exact.
    return {x - n * 0.693145751953125f - n * 1.42860682030941723e-6f, floatsOf(exponent << 23)};
}

/// 2 (e^r - 1) / r = 2 + 2 r/2! + 2 r^2/3! + ... for |r| <= 0.35, to 6e-9.
LOCKSTEP_INLINE Floats doubledSeries(Floats r) {
    Floats sum = splat(2.0f / 5040);
    sum = sum * r + 2.0f / 720;
    sum = sum * r + 2.0f / 120;
    sum = sum * r + 2.0f / 24;
    sum = sum * r + 2.0f / 6;
    sum = sum * r + 1.0f;
    return sum * r + 2.0f;
}

/// e^x, infinite where it exceeds the floats and 0 below 1.7e-38: factors like z in z / (1 + e^-z) may be as
/// large as floats get, and a bounded e^x would leave something of them.
LOCKSTEP_INLINE Floats exponential(Floats x) {
    const Reduced reduced = reduceExponent(x);
    return (reduced.r * doubledSeries(reduced.r) + 2.0f) * reduced.halfPower;
}

/// e^x - 1, accurate near 0; infinite from 88.4 on.
LOCKSTEP_INLINE Floats exponentialMinusOne(Floats x) {
    const Reduced reduced = reduceExponent(x);
    return reduced.halfPower * (reduced.r * doubledSeries(reduced.r)) + (2.0f * reduced.halfPower - 1.0f);
}

/// log(1 + x) for x in [0, 1], accurate near 0: 2 artanh(s) with s = x / (2 + x) <= 1/3.
LOCKSTEP_INLINE Floats logOnePlus(Floats x) {
    const Floats s = x / (x + 2.0f);
    const Floats square = s * s;
    Floats sum = splat(1.0f / 15);
    sum = sum * square + 1.0f / 13;
    sum = sum * square + 1.0f / 11;
    sum = sum * square + 1.0f / 9;
    sum = sum * square + 1.0f / 7;
    sum = sum * square + 1.0f / 5;
    sum = sum * square + 1.0f / 3;
    sum = sum * square + 1.0f;
    return 2.0f * s * sum;
}

LOCKSTEP_INLINE Floats sigmoid(Floats z) { return 1.0f / (1.0f + exponential(-z)); }

/// A constant of a formula.
LOCKSTEP_INLINE Floats number(double value) { return splat(static_cast<float>(value)); }

/// The smaller, or larger, of a number and a limit; NaN stays NaN. (Compilers need twice the instructions for
/// comparisons and selections.)
LOCKSTEP_INLINE Floats atMost(Floats x, float limit) {
#if LOCKSTEP_VECTOR_BYTES == 64
    return reinterpret_cast<Floats>(
        _mm512_maskz_min_ps(0xFFFF, _mm512_set1_ps(limit), reinterpret_cast<__m512>(x)));
#elif LOCKSTEP_VECTOR_BYTES == 32
    return reinterpret_cast<Floats>(_mm256_min_ps(_mm256_set1_ps(limit), reinterpret_cast<__m256>(x)));
#elif defined(__SSE2__)
    return reinterpret_cast<Floats>(_mm_min_ps(_mm_set1_ps(limit), reinterpret_cast<__m128>(x)));
#else
    return x > limit ? splat(limit) : x;
#endif
}
LOCKSTEP_INLINE Floats atLeast(Floats x, float limit) {
#if LOCKSTEP_VECTOR_BYTES == 64
    return reinterpret_cast<Floats>(
        _mm512_maskz_max_ps(0xFFFF, _mm512_set1_ps(limit), reinterpret_cast<__m512>(x)));
#elif LOCKSTEP_VECTOR_BYTES == 32
    return reinterpret_cast<Floats>(_mm256_max_ps(_mm256_set1_ps(limit), reinterpret_cast<__m256>(x)));
#elif defined(__SSE2__)
    return reinterpret_cast<Floats>(_mm_max_ps(_mm_set1_ps(limit), reinterpret_cast<__m128>(x)));
#else
    return x < limit ? splat(limit) : x;
#endif
}

/// a b + c of floats or vectors: rounded once where there is an instruction for it.
template <class A, class B, class C> LOCKSTEP_INLINE Floats multiplyAdd(A factor, B factors, C summand) {
    const Floats a = splat(factor), b = splat(factors);
    Floats c = splat(summand);
#if LOCKSTEP_VECTOR_BYTES == 64
    return reinterpret_cast<Floats>(_mm512_fmadd_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b),
                                                    reinterpret_cast<__m512>(c)));
#elif LOCKSTEP_VECTOR_BYTES == 32
    return reinterpret_cast<Floats>(_mm256_fmadd_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b),
                                                    reinterpret_cast<__m256>(c)));
#elif defined(__SSE2__)
    return a * b + c;
#else
    for (std::size_t element = 0; element < elements; ++element)
        c[element] = __builtin_fmaf(a[element], b[element], c[element]);
    return c;
#endif
}

/// By a quotient of polynomials (shaders/shared/tanh.h): half the work of an exponential.
LOCKSTEP_INLINE Floats hyperbolicTangent(Floats z) {
    using namespace shared;
    const Floats u = atMost(z * z, tanhLimit * tanhLimit); // z itself may be infinite: so is its quotient
    return atLeast(atMost(LOCKSTEP_TANH_QUOTIENT(z, u, multiplyAdd), 1.0f), -1.0f);
}

/// The error function to 1.5e-7 absolute (Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26).
LOCKSTEP_INLINE Floats errorFunction(Floats x) {
    const Floats size = absolute(x);
    const Floats t = 1.0f / (0.3275911f * size + 1.0f);
    Floats sum = splat(1.061405429f);
    sum = sum * t - 1.453152027f;
    sum = sum * t + 1.421413741f;
    sum = sum * t - 0.284496736f;
    sum = sum * t + 0.254829592f;
    const Floats result = 1.0f - sum * t * exponential(-size * size);
    return x < 0.0f ? -result : result;
}

/// Phi(z), the probability of a standard normal number below z, and its derivative.
LOCKSTEP_INLINE Floats normalCdf(Floats z) { return 0.5f * errorFunction(z * 0.70710678f) + 0.5f; }
LOCKSTEP_INLINE Floats normalDensity(Floats z) { return 0.39894228f * exponential(-0.5f * z * z); }

/// max(0, z), but NaN stays NaN.
LOCKSTEP_INLINE Floats positivePart(Floats z) { return z < 0.0f ? Floats{} : z; }

/// f(z).
template <Activation activation> LOCKSTEP_INLINE Floats activateElements(Floats z) {
#define ROW(index, id, name, formula, length, value, from, derivative)                                       \
    if constexpr (activation == Activation::id) return value;
    LOCKSTEP_ACTIVATIONS(ROW)
#undef ROW
}

/// f'(z), from z where derivativeNeedsSum, else from y = f(z).
template <Activation activation> LOCKSTEP_INLINE Floats derivativeElements(Floats saved) {
    [[maybe_unused]] const Floats z = saved;
    [[maybe_unused]] const Floats y = saved;
#define ROW(index, id, name, formula, length, value, from, derivative)                                       \
    if constexpr (activation == Activation::id) return derivative;
    LOCKSTEP_ACTIVATIONS(ROW)
#undef ROW
}

/// Calls Work::run<activation>(arguments...): the choice is made once, outside of all loops.
template <class Work, class... Arguments>
LOCKSTEP_INLINE void withActivation(Activation activation, Arguments... arguments) {
    switch (activation) {
#define ROW(index, id, ...)                                                                                  \
    case Activation::id: return Work::template run<Activation::id>(arguments...);
        LOCKSTEP_ACTIVATIONS(ROW)
#undef ROW
    }
}

constexpr std::size_t roofChains =
    12; ///< independent sums: more than an addition's latency, fewer than registers

/// The most that a core can compute: multiply-adds in registers, none of which waits for the one before. The
/// sum is returned so that no compiler leaves anything out.
inline float multiplyAdds(std::size_t rounds) {
    const Floats factor = splat(0.999f);
    const Floats summand = splat(0.001f);
    Floats sum[roofChains];
    for (std::size_t i = 0; i < roofChains; ++i) sum[i] = splat(static_cast<float>(i));
    for (std::size_t round = 0; round < rounds; ++round)
#pragma GCC unroll 12
        for (std::size_t i = 0; i < roofChains; ++i) sum[i] = sum[i] * factor + summand;
    for (std::size_t i = 1; i < roofChains; ++i) sum[0] += sum[i];
    return sum[0][0];
}

} // namespace
} // namespace lockstep
