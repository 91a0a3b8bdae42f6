// The colour that shows a network's output at one point of the plane: the CPU version of
// shaders/plane/plane_answer.glsl.
#pragma once

#include <cstdint>
#include <span>

#include "engine/net/net_shape.h"
#include "engine/plane/plane_colours.h"

namespace lockstep {

/// Returns the colour as 0xAABBGGRR.
///   one output       its sign and size, clamped to [-1, 1] (a probability p counts as 2 p - 1): from
///                    the negative colour through zero's to the positive one
///   several outputs  the classes' colours, mixed by softmax (cross-entropy), by sigmoid (binary
///                    cross-entropy) or by the outputs themselves, clamped to [0, 1]; discretised: the colour
///                    of the largest (the first of several)
/// Values that are not finite have the background colour.
///   outputs   the network's, after the output activation; at least one
std::uint32_t answerColour(const NetShape& shape, std::span<const float> outputs,
                           const PlaneColours& colours);

} // namespace lockstep
