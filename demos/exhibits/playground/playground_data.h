// The playground's points, and the data set that a network is trained on.
#pragma once

#include <filesystem>
#include <vector>

#include "demos/exhibits/playground/playground_settings.h"
#include "engine/net/dataset.h"

namespace lockstep::demos {

struct PlanePoint {
    LabelledPoint at;
    bool test = false; ///< held back for the test split
};

struct PlaygroundData {
    std::vector<PlanePoint> points;
    Dataset dataset; ///< features of the points; without training examples while there are no points
};

/// The points that the settings name, and their features.
PlaygroundData makePlaygroundData(const PlaygroundSettings& settings);

/// A table of two columns and a target as points of one's own; columns that leave the plane are scaled into
/// it. Throws with file and reason.
struct OwnPoints {
    std::vector<LabelledPoint> points;
    bool values = false;
    bool scaled = false;
};
OwnPoints readOwnPoints(const std::filesystem::path& file);

} // namespace lockstep::demos
