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

/// The same, in place, of parameters [begin, end) of the arena `parameters`, to the nearest numbers.
void roundParameters(FloatKind kind, std::size_t begin, std::size_t end, float* parameters);

/// Likewise, but each parameter becomes one of its two neighbours by chance (roundedStochastic()). The chance
/// is a pure function of seed, step and the parameter's place in the arena.
void roundParametersStochastic(FloatKind kind, std::uint64_t seed, std::uint64_t step, std::size_t begin,
                               std::size_t end, float* parameters);

} // namespace lockstep::plain
