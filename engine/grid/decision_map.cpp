#include "engine/grid/decision_map.h"

#include <cmath>
#include <stdexcept>
#include <string>

namespace lockstep {

void validateDecisionMap(const DecisionMapOptions& options, const PopulationJob& job) {
    if (options.features.size() != job.shape.inputs())
        throw std::invalid_argument("the map has " + std::to_string(options.features.size()) +
                                    " features, and the networks take " + std::to_string(job.shape.inputs()));
    if (options.columns < 1 || options.columns > populationMembers)
        throw std::invalid_argument("a decision map has 1 to " + std::to_string(populationMembers) +
                                    " tiles beside each other");
    if (options.cells < 4 || options.cells > 64)
        throw std::invalid_argument("a tile of a decision map has 4 to 64 pixels along one side");
    if (!std::isfinite(options.from) || !std::isfinite(options.to) || !(options.from < options.to))
        throw std::invalid_argument("a decision map needs a range of the plane that is not empty");
}

std::vector<float> decisionMapPoints(const DecisionMapOptions& options) {
    const float side = (options.to - options.from) / static_cast<float>(options.cells);
    std::vector<float> points;
    points.reserve(std::size_t{options.cells} * options.cells * options.features.size());
    for (std::uint32_t row = 0; row < options.cells; ++row)
        for (std::uint32_t column = 0; column < options.cells; ++column) {
            const float x = options.from + (static_cast<float>(column) + 0.5f) * side;
            const float y = options.to - (static_cast<float>(row) + 0.5f) * side;
            for (const PlaneFeature feature : options.features) points.push_back(planeFeature(feature, x, y));
        }
    return points;
}

} // namespace lockstep
