// The colour in which a network's answer to one point of the plane is shown: the host's twin of
// shaders/plane/plane_answer.glsl.
#pragma once

#include <cstdint>
#include <span>

#include "engine/net/net_shape.h"
#include "engine/plane/plane_colours.h"

namespace lockstep {

/// A word 0xAABBGGRR.
///   one output       its sign and size: a probability p as 2 p - 1, other values as they are, clamped to
///                    [-1, 1], from the negative colour over zero's to the positive one
///   several outputs  the classes' colours, mixed by softmax (cross-entropy), by sigmoid (binary
///                    cross-entropy) or by the outputs themselves, clamped to [0, 1]; discretised: the colour
///                    of the largest (the first among equals)
/// Whatever is not finite has the background's colour.
/// outputs   the network's, behind its output activation; at least one
std::uint32_t answerColour(const NetShape& shape, std::span<const float> outputs,
                           const PlaneColours& colours);

} // namespace lockstep
