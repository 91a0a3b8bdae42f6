// A multiply-add that rounds once, as GPUs and vector units have it.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace lockstep {

/// a b + c, rounded once, like std::fma, which not every C library rounds so (MinGW's does not). The product
/// of two floats is exact in double; of the sum, what double cannot hold makes its last bit odd, so that
/// rounding to float cannot take it for a tie (Boldo and Melquiond, "Emulation of FMA and correctly rounded
/// sums", IEEE Transactions on Computers 57(4), 2008).
inline float fused(float a, float b, float c) {
    const double product = static_cast<double>(a) * b;
    const double sum = product + c;
    const double added = sum - product;
    const double lost = (product - (sum - added)) + (c - added);
    const auto bits = std::bit_cast<std::uint64_t>(sum);
    if (!std::isfinite(sum) || lost == 0 || (bits & 1) != 0) return static_cast<float>(sum);
    const bool outwards = (lost > 0) == (sum > 0);
    return static_cast<float>(std::bit_cast<double>(outwards ? bits + 1 : bits - 1));
}

} // namespace lockstep
