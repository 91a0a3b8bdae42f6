// Rounding of matrices to a floating-point format. All rungs of the processor use these loops: they are
// integer arithmetic, so there is nothing that another rung could round differently.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/net/float_formats.h"

namespace lockstep::plain {

/// Part of a matrix: `columns` numbers in each of `rows` rows, from each row to the next `stride` floats.
struct RoundShape {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::size_t stride = 0;
};

/// The bits of the largest size among the numbers, as scaleFor() takes them; those of a NaN count as largest.
std::uint32_t largestBits(const RoundShape& shape, const float* from);

/// to = rounded(from, kind, scale), number by number; `to` may be `from`.
void roundAll(const RoundShape& shape, FloatKind kind, int scale, const float* from, float* to);

} // namespace lockstep::plain
