// The colours in which answers over the plane are shown.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "shaders/shared/params.h"

namespace lockstep {

/// Words 0xAABBGGRR.
struct PlaneColours {
    std::uint32_t negative = 0;
    std::uint32_t zero = 0;
    std::uint32_t positive = 0;
    std::uint32_t background = 0;                         ///< no neuron, or no finite number
    std::uint32_t classes[shared::colourClassCount] = {}; ///< of class k: k modulo their number
    bool discretise = false;                              ///< the answer alone, not how sure it is
};

/// As shaders read them (shaders/shared/params.h has the places).
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
