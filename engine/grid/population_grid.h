// A grid of networks over two hyperparameters: its settings, and the population made from them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/data/data_source.h"
#include "engine/grid/population.h"
#include "engine/grid/population_axis.h"

namespace lockstep {

/// The place of a network: cells of the x axis from the left, of the y axis from below.
struct GridCell {
    std::size_t x = 0;
    std::size_t y = 0;
    bool operator==(const GridCell&) const = default;
};

/// A grid of columns x rows networks. Member 0 is the upper left tile: the first value of x and the last one
/// of y, since y grows upwards. Members follow row by row.
struct PopulationSpec {
    std::size_t columns = 32;
    std::size_t rows = 32;
    PopulationAxis x{Hyperparameter::learningRate, 1e-4, 1, true, {}};
    PopulationAxis y{Hyperparameter::initialScale, 0.1, 10, true, {}};

    std::string data = "spiral"; ///< as loadDataset() takes it
    DataOptions dataOptions;
    std::vector<std::size_t> hidden{8, 8};
    Activation activation = Activation::tanh;
    Activation outputActivation = Activation::identity;
    std::optional<Loss> loss; ///< empty: suitableLoss() of the data
    InitScheme init = InitScheme::xavier;
    double initialScale = 1;
    TrainSettings train{{}, 10, 1, true};
    std::uint64_t steps = 2000;

    std::size_t size() const { return columns * rows; }
    GridCell cell(std::size_t member) const { return {member % columns, rows - 1 - member / columns}; }
    std::size_t memberAt(GridCell cell) const { return (rows - 1 - cell.y) * columns + cell.x; }
    /// The network at a member's place, with data set 0.
    PopulationMember member(std::size_t number) const;
    /// "lr 0.001, init-scale 0.1": a member's values on both axes.
    std::string describe(std::size_t member) const;
    /// The axis of a hyperparameter; null if it is on neither.
    const PopulationAxis* axisOf(Hyperparameter parameter) const;
    /// Noise of a member's data.
    double noise(std::size_t member) const;

    /// Throws std::invalid_argument, with what would be right, for too many networks, for an axis that is
    /// invalid or has no effect here, and for one hyperparameter on both. makePopulationGrid() checks what
    /// depends on the data.
    void validate() const;
};

/// "32x16" as columns and rows. Throws std::invalid_argument for anything else, and for too many networks,
/// with a size that fits.
std::array<std::size_t, 2> populationSizeFromText(std::string_view text);

/// Two classes: binary cross-entropy, so that one output is enough; more: cross-entropy; values: mse.
Loss suitableLoss(const Dataset& data);

/// A population, and the data that its job points to. Moving it keeps the job valid.
struct PopulationGrid {
    PopulationSpec spec;
    std::vector<std::unique_ptr<const Dataset>> data; ///< one per value of noise on an axis; otherwise one
    PopulationJob job;
};
/// Loads or makes the data and lays out the members. Throws like PopulationSpec::validate, loadDataset and
/// PopulationJob::validate.
PopulationGrid makePopulationGrid(const PopulationSpec& spec);

/// {"columns", "rows", "x", "y", "data", "data_options", "hidden", "activation", "output_activation", "loss",
/// "init", "init_scale", "steps", "settings"}: axes as text; "loss" is null for the suitable one; rate and
/// weight decay of "settings" are effective values, including defaults.
nlohmann::ordered_json toJson(const PopulationSpec& spec);
/// Throws std::invalid_argument that names the missing or wrong field, and like PopulationSpec::validate.
PopulationSpec populationSpecFromJson(const nlohmann::ordered_json& json);

} // namespace lockstep
