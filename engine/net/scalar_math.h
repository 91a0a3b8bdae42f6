// The functions of the formulas in shaders/shared/activations.h and optimizers.h, in plain C++ for float and
// double.
#pragma once

#include <cmath>

namespace lockstep::scalar {

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

} // namespace lockstep::scalar
