// The first weights of a network: a pure function of (shape, seed), the same for every device.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/net/param_layout.h"

namespace lockstep {

/// A whole parameter arena (ParamLayout(shape).size() floats): weights by shape.init, biases and padding 0.
/// weight[o][i] of layer l draws from stream `weights` at index o * inputs + i, subindex l.
std::vector<float> initialWeights(const NetShape& shape, std::uint64_t seed);

} // namespace lockstep
