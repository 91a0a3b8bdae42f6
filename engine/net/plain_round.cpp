#include "engine/net/plain_round.h"

#include <algorithm>
#include <bit>

#include "engine/net/random.h"

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

void roundParameters(FloatKind kind, std::size_t begin, std::size_t end, float* parameters) {
    roundAll({1, end - begin, end - begin}, kind, 0, parameters + begin, parameters + begin);
}

void roundParametersStochastic(FloatKind kind, std::uint64_t seed, std::uint64_t step, std::size_t begin,
                               std::size_t end, float* parameters) {
    const shared::FloatFormat format = rowOf(kind).format();
    for (std::size_t at = begin; at < end;) {
        const shared::Random4 four =
            shared::roundingWords(static_cast<std::uint32_t>(at / 4), static_cast<std::uint32_t>(step),
                                  static_cast<std::uint32_t>(step >> 32), static_cast<std::uint32_t>(seed),
                                  static_cast<std::uint32_t>(seed >> 32));
        const std::uint32_t words[] = {four.x, four.y, four.z, four.w};
        for (const std::size_t next = std::min(at / 4 * 4 + 4, end); at < next; ++at)
            parameters[at] = std::bit_cast<float>(shared::stochasticallyRoundedBits(
                std::bit_cast<std::uint32_t>(parameters[at]), format, 0, words[at % 4]));
    }
}

} // namespace lockstep::plain
