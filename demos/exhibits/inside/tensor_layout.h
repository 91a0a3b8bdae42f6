// Where the tensors of an operation stand, as large as the room allows.
#pragma once

#include <array>
#include <vector>

#include <imgui.h>

namespace lockstep::demos {

struct TensorPlace {
    float rows = 1;
    float columns = 1;
    float caption = 0; ///< least width, of the words above the picture
    ImVec2 at{};       ///< of these words, from the room's corner
    ImVec2 size{};     ///< of the picture below them
};

/// Lengths in pixels.
struct TensorLengths {
    float caption = 0; ///< height of the words
    float gap = 0;     ///< between two tensors
    float between = 0; ///< between both groups
    float least = 0;   ///< height of a picture, and of a single row's below the matrices
    float cell = 0;    ///< greatest height of a cell
};

/// What an operation writes, and what it reads; matrices before single rows.
using TensorPlaces = std::array<std::vector<TensorPlace>, 2>;

/// Places the groups beside each other. Pictures fill the room: their cells are up to about twice as wide or
/// as high as squares would be (a matrix that is far wider than high is squeezed more). Single rows stand
/// beside the matrices or below them, whichever leaves more to all. Returns the height of all, beyond
/// `room.y` where they need more.
float layOutTensors(TensorPlaces& places, ImVec2 room, const TensorLengths& lengths);

} // namespace lockstep::demos
