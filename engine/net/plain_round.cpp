#include "engine/net/plain_round.h"

#include <algorithm>
#include <bit>

namespace lockstep::plain {

std::uint32_t largestBits(const RoundShape& shape, const float* from) {
    std::uint32_t largest = 0;
    for (std::size_t row = 0; row < shape.rows; ++row, from += shape.stride)
        for (std::size_t column = 0; column < shape.columns; ++column)
            largest = std::max(largest, std::bit_cast<std::uint32_t>(from[column]) & 0x7FFFFFFFu);
    return largest;
}

void roundAll(const RoundShape& shape, FloatKind kind, int scale, const float* from, float* to) {
    const shared::FloatFormat format = rowOf(kind).format();
    for (std::size_t row = 0; row < shape.rows; ++row, from += shape.stride, to += shape.stride)
        for (std::size_t column = 0; column < shape.columns; ++column)
            to[column] = std::bit_cast<float>(
                shared::roundedBits(std::bit_cast<std::uint32_t>(from[column]), format, scale));
}

} // namespace lockstep::plain
