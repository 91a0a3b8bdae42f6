// Activations and their derivatives for float and double. The formulas are in shaders/shared/activations.h, a
// row for each; those of the optimizers, in optimizers.h, call the same functions.
#pragma once

#include <cmath>

#include "engine/net/net_shape.h"

namespace lockstep {

/// The functions of the formulas, in plain C++ for float and double.
namespace scalar {

/// max(0, x), but NaN stays NaN.
template <class T> T positivePart(T x) { return x > T(0) ? x : (x == x ? T(0) : x); }

template <class T> T exponential(T x) { return std::exp(x); }
template <class T> T exponentialMinusOne(T x) { return std::expm1(x); }
template <class T> T logOnePlus(T x) { return std::log1p(x); }
template <class T> T absolute(T x) { return std::abs(x); }
template <class T> T squareRoot(T x) { return std::sqrt(x); }
template <class T> T hyperbolicTangent(T x) { return std::tanh(x); }
template <class T> T sigmoid(T x) { return T(1) / (T(1) + std::exp(-x)); }

/// The probability of a standard normal number below x, and its derivative.
template <class T> T normalCdf(T x) { return T(0.5) * (T(1) + std::erf(x * T(0.70710678118654752440))); }
template <class T> T normalDensity(T x) { return T(0.39894228040143267794) * std::exp(T(-0.5) * x * x); }

} // namespace scalar

/// What a neuron's derivative is computed from: its sum z where this is true, else its output y = f(z), which
/// needs no second array.
constexpr bool derivativeNeedsSum(Activation activation) {
    // NOLINTBEGIN(bugprone-branch-clone): rows of the table may agree.
    switch (activation) {
#define LOCKSTEP_ROW(index, id, name, formula, length, value, from, derivative)                              \
    case Activation::id: return shared::from;
        LOCKSTEP_ACTIVATIONS(LOCKSTEP_ROW)
#undef LOCKSTEP_ROW
    }
    // NOLINTEND(bugprone-branch-clone)
    return false;
}

/// Whether that is so for any layer of the network.
inline bool anyLayerKeepsSums(const NetShape& shape) {
    return derivativeNeedsSum(shape.activation) || derivativeNeedsSum(shape.outputActivation);
}

/// f(z).
template <class number> number activate(Activation activation, number z) {
    using namespace scalar;
    switch (activation) {
#define LOCKSTEP_ROW(index, id, name, formula, length, value, from, derivative)                              \
    case Activation::id: return value;
        LOCKSTEP_ACTIVATIONS(LOCKSTEP_ROW)
#undef LOCKSTEP_ROW
    }
    return z;
}

/// f'(z), from `saved`: z where derivativeNeedsSum, else y = f(z).
template <class number> number activationDerivative(Activation activation, number saved) {
    using namespace scalar;
    const number z = saved;
    const number y = saved;
    switch (activation) {
#define LOCKSTEP_ROW(index, id, name, formula, length, value, from, derivative)                              \
    case Activation::id: return derivative;
        LOCKSTEP_ACTIVATIONS(LOCKSTEP_ROW)
#undef LOCKSTEP_ROW
    }
    return number(1);
}

} // namespace lockstep
