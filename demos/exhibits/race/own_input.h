// An example of the user's own: a row that is typed, or a picture that is dropped, as the network sees it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "demos/draw/png.h"
#include "engine/net/dataset.h"
#include "engine/run/inference.h"

namespace lockstep::demos {

struct OwnInput {
    std::vector<float> inputs;      ///< data.inputs numbers
    std::vector<std::string> notes; ///< what was done to it
    bool picture = false;
};

/// The row `typed`, with a value for each feature in the table's order, read and scaled as the table was.
///   data   of a table. Throws std::runtime_error for a wrong number of values and what is not a number.
OwnInput inputFromRow(const Dataset& data, std::string_view typed);

/// The names of the values that inputFromRow() expects: "width, height".
std::string rowHint(const Dataset& data);

/// The picture in grey, averaged into the size of the data's images; inverted if its edge is bright and that
/// of the data's images is dark, or the reverse (the notes say so).
///   data   of images
OwnInput inputFromPicture(const Dataset& data, const Pixels& pixels);

/// What a network says: a class with its probability, the likeliest first, or the values of a regression in
/// the table's units.
struct OwnAnswer {
    std::string name;
    double share = 0; ///< probability; NaN where outputs are none
};
std::vector<OwnAnswer> answersTo(const Dataset& data, Inference& network, const OwnInput& input);

} // namespace lockstep::demos
