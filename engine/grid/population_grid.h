// A grid of networks over two hyperparameters: its axes and settings, and the population made from them.
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

namespace lockstep {

/// What may differ between the networks of a population.
enum class Hyperparameter {
    learningRate,
    initialScale, ///< factor of the initial weights
    momentum,
    weightDecay, ///< L2
    noise,       ///< of generated points
    seed,        ///< of initial weights and order, not of the data
    activation,  ///< of hidden layers
};
/// "lr", "init-scale", "momentum", "l2", "noise", "seed", "activation".
std::string_view name(Hyperparameter parameter);

/// A mark on an axis and its label.
struct AxisTick {
    double place = 0; ///< in cells from the start of the axis; the middle of cell i is at i + 0.5
    std::string label;
};

/// Values from cell to cell: the first cell has `from`, the last one `to`; the values between, or their
/// logarithms, are equally spaced. Seeds are rounded to whole numbers. Activations take equal shares of the
/// cells, in their order. An axis of a single cell has its first value.
struct PopulationAxis {
    Hyperparameter parameter = Hyperparameter::learningRate;
    double from = 0; ///< unused by activations; may be above `to`
    double to = 0;
    bool logarithmic = false;
    std::vector<Activation> activations; ///< used by Hyperparameter::activation only

    /// Throws std::invalid_argument, with what would be right, for values out of the hyperparameter's range,
    /// equal ends, logarithms of 0, and fewer than two different activations.
    void validate() const;
    /// The text that populationAxisFromText() reads: "lr=0.0001:1:log", "seed=1:32", "activation=relu,tanh".
    std::string text() const;

    /// The value of cell `cell` of `cells`. Not for activations.
    double value(std::size_t cell, std::size_t cells) const;
    Activation activation(std::size_t cell, std::size_t cells) const;
    /// The value with three digits: "0.001", "tanh".
    std::string label(std::size_t cell, std::size_t cells) const;
    /// Gives a network the value of its cell. Noise belongs to a member's data, so it changes nothing here.
    void apply(PopulationMember& member, std::size_t cell, std::size_t cells) const;

    /// About `most` round values along an axis of `cells` cells: powers of ten on a logarithmic axis (and 2
    /// and 5 times these on a short one), multiples of 1, 2 or 5 times a power of ten on a linear one; for
    /// activations, the middle of each one's share.
    std::vector<AxisTick> ticks(std::size_t cells, std::size_t most = 6) const;

    bool operator==(const PopulationAxis&) const = default;
};

/// Reads NAME=FROM:TO with an optional :log or :linear, or activation=NAME,NAME,... Throws
/// std::invalid_argument with the nearest known name or what would be right, and like
/// PopulationAxis::validate.
PopulationAxis populationAxisFromText(std::string_view text);

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
