// A test split for sources that have none.
#pragma once

#include <cstdint>

#include "engine/net/dataset.h"

namespace lockstep {

/// Moves round(share * count) of the training examples into the (empty) test split: which ones is a
/// permutation drawn from stream `split` of the seed, so the same seed gives the same split everywhere. Both
/// splits keep the order of the source.
///   share   in [0, 1)
/// Throws std::invalid_argument for another share, and when no training example would be left.
void splitOffTest(Dataset& data, double share, std::uint64_t seed);

} // namespace lockstep
