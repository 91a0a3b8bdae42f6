// Conversions between float and other floating-point formats.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "shaders/shared/half.h"

namespace lockstep {

/// IEEE 754 binary16: 1 sign, 5 exponent (bias 15), 10 fraction bits. Exact.
inline float fromFloat16(std::uint16_t half) {
    const float sign = (half & 0x8000u) != 0 ? -1.0f : 1.0f;
    const int exponent = (half >> 10) & 31;
    const int fraction = half & 1023;
    if (exponent == 31)
        return fraction != 0 ? std::numeric_limits<float>::quiet_NaN()
                             : sign * std::numeric_limits<float>::infinity();
    if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
    return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
}

/// The nearest binary16, ties to even; 65520 and above become infinite.
inline std::uint16_t toFloat16(float value) {
    return static_cast<std::uint16_t>(shared::halfFromFloatBits(std::bit_cast<std::uint32_t>(value)));
}

/// bfloat16: the upper half of a float. Exact.
inline float fromBfloat16(std::uint16_t half) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

/// The nearest float; a finite number beyond a float's range becomes infinite.
inline float narrow(double wide) {
    constexpr double largest = std::numeric_limits<float>::max();
    if (wide > largest) return std::numeric_limits<float>::infinity();
    if (wide < -largest) return -std::numeric_limits<float>::infinity();
    return static_cast<float>(wide);
}

} // namespace lockstep
