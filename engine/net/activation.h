// Activations and their derivatives, side by side. T is float or double. Definitions as torch.nn.* with
// defaults.
#pragma once

#include <cmath>

#include "engine/net/net_shape.h"

namespace lockstep {

/// Which value of a neuron the derivative is computed from: its sum z for these, its output f(z) for all
/// others (which then need no second array).
constexpr bool derivativeNeedsSum(Activation activation) {
    return activation == Activation::gelu || activation == Activation::silu;
}

/// f(z).
template <class T> T activate(Activation activation, T z) {
    switch (activation) {
    case Activation::identity: return z;
    case Activation::relu: return z > T(0) ? z : (z == z ? T(0) : z); // NaN stays NaN
    case Activation::leakyRelu: return z > T(0) ? z : T(0.01) * z;
    case Activation::elu: return z > T(0) ? z : std::expm1(z);
    case Activation::gelu: return T(0.5) * z * (T(1) + std::erf(z * T(0.70710678118654752440)));
    case Activation::tanh: return std::tanh(z);
    case Activation::sigmoid: return T(1) / (T(1) + std::exp(-z));
    case Activation::silu: return z / (T(1) + std::exp(-z));
    }
    return z;
}

/// f'(z), from `saved`: z where derivativeNeedsSum, else f(z).
template <class T> T activationDerivative(Activation activation, T saved) {
    switch (activation) {
    case Activation::identity: return T(1);
    case Activation::relu: return saved > T(0) ? T(1) : T(0);
    case Activation::leakyRelu: return saved > T(0) ? T(1) : T(0.01);
    case Activation::elu: return saved > T(0) ? T(1) : saved + T(1);
    case Activation::gelu: {
        const T cumulative = T(0.5) * (T(1) + std::erf(saved * T(0.70710678118654752440)));
        const T density = T(0.39894228040143267794) * std::exp(T(-0.5) * saved * saved);
        return cumulative + saved * density;
    }
    case Activation::tanh: return T(1) - saved * saved;
    case Activation::sigmoid: return saved * (T(1) - saved);
    case Activation::silu: {
        const T sigmoid = T(1) / (T(1) + std::exp(-saved));
        return sigmoid * (T(1) + saved * (T(1) - sigmoid));
    }
    }
    return T(1);
}

} // namespace lockstep
