// Which optimizers there are, and what each of them is like: the columns of shaders/shared/optimizers.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "shaders/shared/optimizers.h"

namespace lockstep {

/// shaders/shared/optimizers.h has a row for each, with its formula.
enum class Optimizer : std::uint32_t {
#define LOCKSTEP_ROW(number, id, ...) id = number,
    LOCKSTEP_OPTIMIZERS(LOCKSTEP_ROW)
#undef LOCKSTEP_ROW
};

/// All of them, in the order of the table.
inline constexpr Optimizer allOptimizers[] = {
#define LOCKSTEP_ROW(number, id, ...) Optimizer::id,
    LOCKSTEP_OPTIMIZERS(LOCKSTEP_ROW)
#undef LOCKSTEP_ROW
};

/// What an optimizer does with the settings; combined by |.
enum OptimizerTraits : unsigned {
    usesNothing = 0,     ///< but the learning rate and regularisation, as all do
    usesMomentum = 1,    ///< momentum and nesterov
    usesAlpha = 2,       ///< as its `decay`
    usesBetas = 4,       ///< beta1 as its `momentum`, beta2 as its `decay`
    usesEpsilon = 8,     ///< below the root that it divides the gradient by
    correctsBias = 16,   ///< divides its averages by 1 - beta^t
    decouplesDecay = 32, ///< weight decay shrinks the weights directly, and is 0.01 unless set
};

struct OptimizerInfo {
    std::string_view name;
    double learningRate;                   ///< to begin with: PyTorch's default, but 0.1 for sgd and momentum
    std::size_t states;                    ///< numbers that it keeps of every parameter: 0, 1 or 2
    std::array<std::string_view, 2> state; ///< PyTorch's names of them
    unsigned traits;                       ///< OptimizerTraits
    double operations;                     ///< of floating point per parameter
    std::string_view formula;              ///< for people; with line breaks

    constexpr bool has(OptimizerTraits trait) const { return (traits & trait) != 0; }
};

constexpr OptimizerInfo infoOf(Optimizer optimizer) {
    switch (optimizer) {
#define LOCKSTEP_ROW(number, id, name, rate, states, state1, state2, traits, operations, formula, step)      \
    case Optimizer::id: return {name, rate, states, {state1, state2}, traits, operations, formula};
        LOCKSTEP_OPTIMIZERS(LOCKSTEP_ROW)
#undef LOCKSTEP_ROW
    }
    return {};
}

/// The names of the optimizers that have the trait: "adam and adamw".
std::string optimizersWith(OptimizerTraits trait);

std::string_view name(Optimizer value);
/// Throws std::invalid_argument, which lists the names and suggests the nearest.
Optimizer optimizerFromName(std::string_view text);

} // namespace lockstep
