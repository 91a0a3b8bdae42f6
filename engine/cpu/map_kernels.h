// Networks of a map (shaders/grid/map_network.glsl has the formulas), a vector of them side
// by side: element k of every vector belongs to network k, so that all arithmetic is elementwise and adds in
// the order of the plain loops.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "engine/net/net_shape.h"
#include "shaders/shared/map.h"

namespace lockstep {

/// What all networks share: of one shape inputs - hidden - 1, trained on the same examples from the same
/// weights.
struct MapProblem {
    std::size_t columns = 0; ///< inputs, rounded up with zeros: mapColumns()
    std::size_t hidden = 0;  ///< at most 16
    std::size_t examples = 0;
    Activation activation = Activation::tanh; ///< identity, relu or tanh
    std::uint32_t steps = 0;
    std::uint32_t tail = 0;               ///< the last steps, as MapParams::tail
    const float* inputs = nullptr;        ///< [examples][columns]
    const float* targets = nullptr;       ///< [examples]
    const float* firstWeights = nullptr;  ///< [hidden][columns]
    const float* secondWeights = nullptr; ///< [hidden]
};

/// 2, 4, 8 or 16, for at most 16 inputs.
constexpr std::size_t mapColumns(std::size_t inputs) { return std::bit_ceil(inputs < 2 ? 2 : inputs); }

struct MapKernels {
    std::size_t elements = 1; ///< networks side by side
    /// Trains `count` networks, 1 to `elements`, to their ends. Throws nothing.
    void (*train)(const MapProblem& problem, const shared::MapStart* starts, std::size_t count,
                  shared::MapEnd* ends);
};

} // namespace lockstep
