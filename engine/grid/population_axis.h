// One axis of a grid of networks: a hyperparameter, and its values along the grid's columns or rows.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/grid/population.h"
#include "engine/net/net_shape.h"

namespace lockstep {

/// What the networks of a population may differ in.
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
/// Throws std::invalid_argument with the nearest right name.
Hyperparameter hyperparameterFromName(std::string_view text);

/// A mark on an axis: where, and what to write there.
struct AxisTick {
    double place = 0; ///< in cells from the axis' beginning; the middle of cell i is at i + 0.5
    std::string label;
};

/// Values from cell to cell: the first cell has `from`, the last one `to`, those between are equally far
/// apart (or their logarithms are). Seeds are rounded to whole numbers. Activations are spread over the cells
/// in equal shares, in their order. An axis of a single cell has its first value.
struct PopulationAxis {
    Hyperparameter parameter = Hyperparameter::learningRate;
    double from = 0; ///< of all but activations; may be above `to`
    double to = 0;
    bool logarithmic = false;
    std::vector<Activation> activations; ///< of Hyperparameter::activation only

    /// Throws std::invalid_argument, saying what would be right, for values that the hyperparameter cannot
    /// have, equal ends, logarithms of 0, and fewer than two different activations.
    void validate() const;
    /// As populationAxisFromText() reads it: "lr=0.0001:1:log", "seed=1:32", "activation=relu,tanh".
    std::string text() const;

    /// Of cell `cell` of `cells`. Not for activations.
    double value(std::size_t cell, std::size_t cells) const;
    Activation activation(std::size_t cell, std::size_t cells) const;
    /// The value as people read it, in three digits: "0.001", "tanh".
    std::string label(std::size_t cell, std::size_t cells) const;
    /// Gives a network the value of its cell. Noise is no part of a member but of its data.
    void apply(PopulationMember& member, std::size_t cell, std::size_t cells) const;

    /// Round values along an axis of `cells` cells, about `most` of them: powers of ten of a logarithmic axis
    /// (with 2 and 5 times these on a short one), multiples of 1, 2 or 5 times a power of ten of a linear
    /// one, the middle of every activation's share.
    std::vector<AxisTick> ticks(std::size_t cells, std::size_t most = 6) const;

    bool operator==(const PopulationAxis&) const = default;
};

/// NAME=FROM:TO, with :log or :linear (which need not be said) at the end, or activation=NAME,NAME,...
/// Throws std::invalid_argument with the nearest right name, or with what would be right, and as
/// PopulationAxis::validate.
PopulationAxis populationAxisFromText(std::string_view text);

} // namespace lockstep
