// Random numbers in C++: the generator of shaders/shared/random.h, and the streams that the engine draws.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "shaders/shared/order.h"
#include "shaders/shared/random.h"

namespace lockstep {

/// The purpose of a stream of random numbers. Streams of one seed never overlap.
enum class RandomStream : std::uint32_t {
    weights = 1,
    order = 2,
    data = 3,
    noise = 4,
    split = 5,
    test = 6,
    rounding = shared::roundingStream,
};

/// Words of the stream at (index, subindex): a pure function, for draws in any order and on any device.
inline shared::Random4 randomWords(std::uint64_t seed, RandomStream stream, std::uint64_t index,
                                   std::uint32_t subindex = 0) {
    return shared::philox({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                           subindex, static_cast<std::uint32_t>(stream)},
                          static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
}

/// A word as a double in [0, 1): word / 2^32.
inline double uniform01(std::uint32_t word) { return word * (1.0 / 4294967296.0); }

/// A standard normal number from two words (Box and Muller 1958).
inline double normalFromWords(std::uint32_t first, std::uint32_t second) {
    // 1 - u lies in (0, 1], so the logarithm is finite.
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform01(first)));
    return radius * std::cos(2.0 * std::numbers::pi * uniform01(second));
}

/// The round keys of an epoch's order (shaders/shared/order.h).
inline shared::OrderKeys orderKeys(std::uint64_t seed, std::uint64_t epoch) {
    const shared::Random4 words = randomWords(seed, RandomStream::order, epoch);
    return {words.x, words.y, words.z, words.w};
}

} // namespace lockstep
