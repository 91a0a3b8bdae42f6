// What the mosaic trains, the same as JSON, and its words for networks.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/grid/population_grid.h"

namespace lockstep::demos {

struct MosaicSettings {
    static constexpr std::size_t mostTiles = 64; ///< along one side

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

/// What one network is and how it did, for people: "loss", "0.0123" and so on.
using NamedValues = std::vector<std::pair<std::string, std::string>>;
NamedValues memberValues(const PopulationSpec& spec, std::size_t member, const MemberResult& result);
/// Its outcome: "Trained for 1,200 of 2,000 steps.", "Diverged: the loss was no longer finite at step 37."
std::string memberState(const PopulationSpec& spec, const MemberResult& result);

/// What all networks share: "2-8-8-1 tanh, bce, sgd, batch 16"; without what is on an axis.
std::string sharedText(const PopulationGrid& grid);

} // namespace lockstep::demos
