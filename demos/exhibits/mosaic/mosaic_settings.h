// What the mosaic trains, and the same as JSON.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/grid/population_grid.h"

namespace lockstep::demos {

struct MosaicSettings {
    static constexpr std::size_t mostTiles = 64; ///< along one side
    static constexpr float planeReach = 6;       ///< tiles show [-6, 6] x [-6, 6]

    PopulationSpec population;
    PopulationLayout layout = PopulationLayout::best; ///< of the graphics card's networks
    bool cpu = true;                                  ///< the processor trains the same beside it

    MosaicSettings();

    /// Throws std::invalid_argument naming what makes no sense.
    void validate() const;
};

/// The fields of PopulationSpec's JSON, "layout" and "cpu".
nlohmann::ordered_json toJson(const MosaicSettings& settings);
/// What is missing is as at the first start. Throws std::invalid_argument naming the field.
MosaicSettings mosaicSettingsFromJson(const nlohmann::ordered_json& json);

/// A hyperparameter over the range in which it makes a difference.
PopulationAxis usualAxis(Hyperparameter parameter);
/// As labels show it: "learning rate".
std::string hyperparameterLabel(Hyperparameter parameter);

bool operator==(const MosaicSettings& a, const MosaicSettings& b);

/// The state in which the exhibit "playground" goes on with one network of the mosaic: its data, settings and
/// weights, `step` steps old; without weights, from its first ones.
nlohmann::ordered_json playgroundState(const PopulationGrid& grid, std::size_t member, std::uint64_t step,
                                       const std::vector<float>& parameters);

} // namespace lockstep::demos
