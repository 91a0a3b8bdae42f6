// Floating-point formats, and conversions between float and their numbers.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include "shaders/shared/formats.h"
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

/// The nearest bfloat16, ties to even.
inline std::uint16_t toBfloat16(float value) {
    const shared::FloatFormat format = shared::floatFormat(shared::formatBf16);
    return static_cast<std::uint16_t>(
        shared::codeOf(shared::roundedBits(std::bit_cast<std::uint32_t>(value), format, 0), format));
}

/// The nearest binary16, ties to even; 65520 and above become infinite.
inline std::uint16_t toFloat16(float value) {
    return static_cast<std::uint16_t>(shared::halfFromFloatBits(std::bit_cast<std::uint32_t>(value)));
}

/// bfloat16: the upper half of a float. Exact.
inline float fromBfloat16(std::uint16_t half) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

/// A layout of sign, exponent and fraction. The machines' kernels know it by its number, too.
enum class FloatKind : std::uint32_t {
    fp32 = shared::formatFp32,
    tf32 = shared::formatTf32,
    bf16 = shared::formatBf16,
    fp16 = shared::formatFp16,
    e4m3 = shared::formatE4m3,
    e5m2 = shared::formatE5m2,
};

struct FloatKindRow {
    FloatKind kind = FloatKind::fp32;
    std::string_view name;

    shared::FloatFormat format() const { return shared::floatFormat(static_cast<std::uint32_t>(kind)); }
    std::uint32_t bits() const { return 1 + format().exponentBits + format().fractionBits; }
    float largest() const { return std::bit_cast<float>(format().largest); }
    float smallestNormal() const { return std::ldexp(1.0f, 1 - static_cast<int>(format().bias)); }
    /// The smallest number above 0, subnormal.
    float smallest() const { return std::ldexp(smallestNormal(), -static_cast<int>(format().fractionBits)); }
    bool hasInfinity() const { return format().infinity != 0; }
};

/// In the order of FloatKind.
inline constexpr FloatKindRow floatKinds[] = {
    {FloatKind::fp32, "fp32"}, {FloatKind::tf32, "tf32"}, {FloatKind::bf16, "bf16"},
    {FloatKind::fp16, "fp16"}, {FloatKind::e4m3, "e4m3"}, {FloatKind::e5m2, "e5m2"},
};
constexpr const FloatKindRow& rowOf(FloatKind kind) { return floatKinds[static_cast<std::size_t>(kind)]; }

/// The code of the nearest number, ties to even. What rounds beyond the largest becomes infinite, or NaN
/// where the format has no infinity.
inline std::uint32_t encoded(float value, FloatKind kind) {
    const shared::FloatFormat format = rowOf(kind).format();
    return shared::codeOf(shared::roundedBits(std::bit_cast<std::uint32_t>(value), format, 0), format);
}

/// The number of a code. Exact.
inline float decoded(std::uint32_t code, FloatKind kind) {
    return std::bit_cast<float>(shared::bitsOf(code, rowOf(kind).format()));
}

/// decoded(encoded(value)) of a format whose numbers are all divided by 2^scale; scaleFor() has the best one.
inline float rounded(float value, FloatKind kind, int scale = 0) {
    return std::bit_cast<float>(
        shared::roundedBits(std::bit_cast<std::uint32_t>(value), rowOf(kind).format(), scale));
}

/// One of the two neighbours of `value`, by chance: the mean over all `random` bits is `value`.
inline float roundedStochastic(float value, FloatKind kind, std::uint32_t random, int scale = 0) {
    return std::bit_cast<float>(shared::stochasticallyRoundedBits(std::bit_cast<std::uint32_t>(value),
                                                                  rowOf(kind).format(), scale, random));
}

/// The largest power of two, 2^result, by which numbers up to `largest` can be multiplied without leaving the
/// format's range; at most 2^most.
inline int scaleFor(float largest, FloatKind kind, int most = 1 << 10) {
    return shared::scaleFor(std::bit_cast<std::uint32_t>(std::abs(largest)), rowOf(kind).format(), most);
}

/// The nearest float; a finite number beyond a float's range becomes infinite.
inline float narrow(double wide) {
    constexpr double largest = std::numeric_limits<float>::max();
    if (wide > largest) return std::numeric_limits<float>::infinity();
    if (wide < -largest) return -std::numeric_limits<float>::infinity();
    return static_cast<float>(wide);
}

} // namespace lockstep
