// What tests at the ends of the floats' range share: the numbers, and how close to double a result has to be.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "engine/net/activation.h"

namespace lockstep::test {

inline constexpr float infinite = std::numeric_limits<float>::infinity();

/// Finite numbers of both signs: 0, denormals, the smallest and the largest floats, and what lies around the
/// places where something ends: tanh is 1 from 9 on, erf(z / sqrt 2) from 6, e^z is infinite above 88.72, a
/// denormal below -87.3 and 0 below -104, z^2 is infinite above 1.8e19.
inline std::vector<float> extremeNumbers() {
    std::vector<float> result;
    for (const float size : {0.0f,
                             1.4e-45f,
                             1e-40f,
                             1.17549435e-38f,
                             1e-38f,
                             1e-30f,
                             1e-20f,
                             1e-10f,
                             1e-7f,
                             1e-4f,
                             0.01f,
                             0.1f,
                             0.5f,
                             1.0f,
                             2.0f,
                             3.0f,
                             4.0f,
                             5.0f,
                             5.9f,
                             6.1f,
                             7.0f,
                             7.9f,
                             7.9988f,
                             8.0f,
                             8.3f,
                             8.4f,
                             8.5f,
                             8.7f,
                             9.0f,
                             9.1f,
                             9.2f,
                             10.0f,
                             13.0f,
                             17.0f,
                             20.0f,
                             50.0f,
                             86.0f,
                             86.9f,
                             87.0f,
                             87.3f,
                             87.4f,
                             87.5f,
                             88.0f,
                             88.3f,
                             88.4f,
                             88.7f,
                             88.8f,
                             89.0f,
                             90.0f,
                             103.0f,
                             104.0f,
                             105.0f,
                             200.0f,
                             1e3f,
                             1e5f,
                             1e10f,
                             1.8e19f,
                             1.9e19f,
                             1e20f,
                             1e30f,
                             1e38f,
                             3e38f,
                             std::numeric_limits<float>::max()})
        for (const float sign : {1.0f, -1.0f}) result.push_back(sign * size);
    return result;
}

/// A result in double as a float holds it: what is beyond the largest float is infinite, in PyTorch, too.
inline double asFloat(double value) {
    const auto most = static_cast<double>(std::numeric_limits<float>::max());
    return std::abs(value) > most ? std::copysign(INFINITY, value) : value;
}

/// How far a float may be from the exact value.
struct Tolerance {
    double relative = 0;
    double absolute = 0;

    bool holds(double found, double exact) const {
        const double expected = asFloat(exact);
        if (std::isnan(expected) || std::isinf(expected) || std::isnan(found))
            return found == expected || (std::isnan(found) && std::isnan(expected));
        return std::abs(found - expected) <= absolute + relative * std::abs(expected);
    }
};

/// Products and exponentials below the smallest normal floats may be taken as 0.
inline constexpr double flushed = 2e-38;

/// How far f(z) may be from the exact value.
inline Tolerance valueTolerance(Activation activation, double z) {
    switch (activation) {
    case Activation::tanh:
        return {0, std::abs(z) >= 9.1 ? 3e-8 : 4e-7}; // then 1 to the bit: floats beside it are 6e-8 off
    // Phi(z) to 1.5e-7 until it is 0 or 1; PyTorch's has steps of 3e-8 near 0.
    case Activation::gelu:
        return {1e-6, flushed + (std::abs(z) < 6 ? 2e-7 * std::abs(z) : std::abs(z) < 14 ? 1e-8 : 0)};
    case Activation::silu: return {2e-6, 100 * flushed};
    default: return {1e-6, flushed};
    }
}

/// How far f'(z) may be from the exact value. A derivative that is computed from y cannot be closer than y is
/// to f(z): a step of y at 1 is 6e-8. So it is in PyTorch.
inline Tolerance derivativeTolerance(Activation activation, double z) {
    switch (activation) {
    case Activation::tanh:
        return {0, std::abs(z) >= 9.1 ? 5.1e-8 : 8e-7}; // then 0 to the bit: 1 - y^2 has steps of 1.2e-7
    case Activation::sigmoid: return {2e-6, z > 0 ? 2e-7 : flushed};
    case Activation::gelu: return {2e-6, std::abs(z) < 6.5 ? 4e-7 : 1e-11};
    case Activation::silu: return {3e-6, z > 0 ? 2e-6 : 100 * flushed};
    default: return {2e-6, flushed};
    }
}

/// f'(z) from z, whatever the activation's formula starts from.
inline double exactDerivative(Activation activation, double z) {
    if (activation == Activation::tanh) return 1 / (std::cosh(z) * std::cosh(z));
    if (activation == Activation::sigmoid) return activate(activation, z) * activate(activation, -z);
    return activationDerivative(activation, derivativeNeedsSum(activation) ? z : activate(activation, z));
}

} // namespace lockstep::test
