// Exponentials and what is made of them, lane by lane, with relative errors of a few 1e-7; then the
// activations and their derivatives, as net/activation.h defines them. A NaN in gives a NaN out.
#pragma once

namespace lockstep {
namespace {

/// x = n ln 2 + r with |r| <= ln 2 / 2: what an exponential is computed from.
struct Reduced {
    Floats r;
    Floats power; ///< 2^n
};

LOCKSTEP_INLINE Reduced reduceExponent(Floats x) {
    // Outside this range e^x is 0 or infinite for every purpose here; inside, 2^n is a normal float.
    x = x > 88.0f ? splat(88.0f) : x;
    x = x < -87.0f ? splat(-87.0f) : x;
    // Adding 1.5 * 2^23 rounds to an integer and leaves it in the lowest bits.
    constexpr float rounder = 12582912.0f;
    const Floats rounded = x * 1.44269504088896341f + rounder;
    const Floats n = rounded - rounder;
    const Ints exponent = bitsOf(rounded) - bitsOf(splat(rounder)) + 127;
    // ln 2 in two parts, the first with few enough bits that n times it is exact.
    return {x - n * 0.693145751953125f - n * 1.42860682030941723e-6f, floatsOf(exponent << 23)};
}

/// (e^r - 1) / r = 1 + r/2! + r^2/3! + ... for |r| <= 0.35, to 6e-9.
LOCKSTEP_INLINE Floats exponentialSeries(Floats r) {
    Floats sum = splat(1.0f / 5040);
    sum = sum * r + 1.0f / 720;
    sum = sum * r + 1.0f / 120;
    sum = sum * r + 1.0f / 24;
    sum = sum * r + 1.0f / 6;
    sum = sum * r + 0.5f;
    return sum * r + 1.0f;
}

LOCKSTEP_INLINE Floats exponential(Floats x) {
    const Reduced reduced = reduceExponent(x);
    return (reduced.r * exponentialSeries(reduced.r) + 1.0f) * reduced.power;
}

/// e^x - 1, accurate near 0.
LOCKSTEP_INLINE Floats exponentialMinusOne(Floats x) {
    const Reduced reduced = reduceExponent(x);
    return reduced.power * (reduced.r * exponentialSeries(reduced.r)) + (reduced.power - 1.0f);
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

LOCKSTEP_INLINE Floats hyperbolicTangent(Floats z) {
    const Floats e = exponentialMinusOne(2.0f * z);
    return e / (e + 2.0f);
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

/// Phi(z), the share of a standard normal distribution below z.
LOCKSTEP_INLINE Floats normalShare(Floats z) { return 0.5f * errorFunction(z * 0.70710678f) + 0.5f; }

/// f(z).
template <Activation activation> LOCKSTEP_INLINE Floats activateLanes(Floats z) {
    if constexpr (activation == Activation::relu) return z < 0.0f ? Floats{} : z;
    if constexpr (activation == Activation::leakyRelu) return z > 0.0f ? z : 0.01f * z;
    if constexpr (activation == Activation::elu) return z > 0.0f ? z : exponentialMinusOne(z);
    if constexpr (activation == Activation::gelu) return z * normalShare(z);
    if constexpr (activation == Activation::tanh) return hyperbolicTangent(z);
    if constexpr (activation == Activation::sigmoid) return sigmoid(z);
    if constexpr (activation == Activation::silu) return z * sigmoid(z);
    return z;
}

/// f'(z), from z where derivativeNeedsSum, else from f(z).
template <Activation activation> LOCKSTEP_INLINE Floats derivativeLanes(Floats saved) {
    if constexpr (activation == Activation::relu) return saved > 0.0f ? splat(1.0f) : Floats{};
    if constexpr (activation == Activation::leakyRelu) return saved > 0.0f ? splat(1.0f) : splat(0.01f);
    if constexpr (activation == Activation::elu) return saved > 0.0f ? splat(1.0f) : saved + 1.0f;
    if constexpr (activation == Activation::gelu)
        return normalShare(saved) + saved * 0.39894228f * exponential(-0.5f * saved * saved);
    if constexpr (activation == Activation::tanh) return 1.0f - saved * saved;
    if constexpr (activation == Activation::sigmoid) return saved * (1.0f - saved);
    if constexpr (activation == Activation::silu) {
        const Floats share = sigmoid(saved);
        return share * (1.0f + saved * (1.0f - share));
    }
    return splat(1.0f);
}

/// Calls Work::run<activation>(arguments...): the choice is made once, outside of all loops.
template <class Work, class... Arguments>
LOCKSTEP_INLINE void withActivation(Activation activation, Arguments... arguments) {
    switch (activation) {
    case Activation::identity: return Work::template run<Activation::identity>(arguments...);
    case Activation::relu: return Work::template run<Activation::relu>(arguments...);
    case Activation::leakyRelu: return Work::template run<Activation::leakyRelu>(arguments...);
    case Activation::elu: return Work::template run<Activation::elu>(arguments...);
    case Activation::gelu: return Work::template run<Activation::gelu>(arguments...);
    case Activation::tanh: return Work::template run<Activation::tanh>(arguments...);
    case Activation::sigmoid: return Work::template run<Activation::sigmoid>(arguments...);
    case Activation::silu: return Work::template run<Activation::silu>(arguments...);
    }
}

} // namespace
} // namespace lockstep
