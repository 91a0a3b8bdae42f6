// The colours that show a network's outputs over the plane.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

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

} // namespace lockstep
