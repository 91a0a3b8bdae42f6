// Sums of products of 8-bit integers by the processor's own instruction for them (VPDPBUSD of AVX-512 VNNI).
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep {

/// All functions compute integers, or the same roundings one by one: their results are those of plain loops,
/// bit for bit.
struct Int8Products {
    /// sums [rows][outputs] = sum_i codes [rows][inputs] * weights [outputs][inputs]; exact up to 65,536
    /// inputs.
    void (*multiply)(std::size_t rows, std::size_t inputs, std::size_t outputs, const std::uint8_t* codes,
                     const std::int8_t* weights, std::int32_t* sums);
    /// codes = value / scale, rounded to the nearest integer, ties to even, plus zero, within 0 to 255.
    void (*encode)(std::size_t count, const float* values, float scale, float zero, std::uint8_t* codes);
};

/// Null where this build is for another architecture. Calling them on a processor without AVX-512 VNNI is
/// undefined: ask hasInt8Instructions() first.
extern const Int8Products int8Products;

} // namespace lockstep
