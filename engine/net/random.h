// Random numbers in C++: the generator of shaders/shared/random.h with the streams that the engine draws
// from.
#pragma once

#include <cstdint>

#include "shaders/shared/order.h"
#include "shaders/shared/random.h"

namespace lockstep {

/// What a stream of random numbers is for. Streams of one seed never overlap.
enum class RandomStream : std::uint32_t { weights = 1, order = 2, data = 3, noise = 4, split = 5, test = 6 };

/// Words of the stream at (index, subindex): a pure function, so numbers can be drawn in any order and on any
/// device.
inline shared::Random4 randomWords(std::uint64_t seed, RandomStream stream, std::uint64_t index,
                                   std::uint32_t subindex = 0) {
    return shared::philox({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                           subindex, static_cast<std::uint32_t>(stream)},
                          static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
}

/// A word as a double in [0, 1): word / 2^32.
inline double uniform01(std::uint32_t word) { return word * (1.0 / 4294967296.0); }

/// A standard normal number from two words (Box and Muller 1958).
double normalFromWords(std::uint32_t first, std::uint32_t second);

/// The round keys of an epoch's order (shaders/shared/order.h).
inline shared::OrderKeys orderKeys(std::uint64_t seed, std::uint64_t epoch) {
    const shared::Random4 words = randomWords(seed, RandomStream::order, epoch);
    return {words.x, words.y, words.z, words.w};
}

} // namespace lockstep
