// One axis of a grid of networks: a hyperparameter, and its values along the grid's columns or rows.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/grid/population.h"
#include "engine/net/net_shape.h"

namespace lockstep {

/// What may differ between the networks of a population.
enum class Hyperparameter {
    learningRate,
    initialScale, ///< factor of the first weights
    momentum,
    weightDecay, ///< L2
    noise,       ///< of generated points
    seed,        ///< of first weights and order, not of the data
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

} // namespace lockstep
