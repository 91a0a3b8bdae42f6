// The colours that show a network's outputs over the plane.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "engine/net/net_shape.h"
#include "shaders/shared/params.h"

namespace lockstep {

/// Colours as 0xAABBGGRR.
struct PlaneColours {
    std::uint32_t negative = 0;
    std::uint32_t zero = 0;
    std::uint32_t positive = 0;
    std::uint32_t background = 0;                         ///< no neuron, or not a finite value
    std::uint32_t classes[shared::colourClassCount] = {}; ///< class k uses entry k modulo their number
    bool discretise = false; ///< shows only the predicted class, not its probability
};

/// The colours in the order that shaders read (shaders/shared/params.h).
using PlaneColourWords = std::array<std::uint32_t, shared::colourClasses + shared::colourClassCount>;
inline PlaneColourWords wordsOf(const PlaneColours& colours) {
    PlaneColourWords words{};
    words[shared::colourNegative] = colours.negative;
    words[shared::colourZero] = colours.zero;
    words[shared::colourPositive] = colours.positive;
    words[shared::colourBackground] = colours.background;
    std::ranges::copy(colours.classes, words.begin() + shared::colourClasses);
    return words;
}

/// The colour of a network's output at one point of the plane, 0xAABBGGRR: the CPU version of
/// shaders/plane/plane_answer.glsl.
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
