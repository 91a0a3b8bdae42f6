// Activations and their derivatives for float and double. The formulas are in shaders/shared/activations.h, a
// row for each.
#pragma once

#include "engine/net/net_shape.h"
#include "engine/net/scalar_math.h"

namespace lockstep {

/// What a neuron's derivative is computed from: its sum z where this is true, else its output y = f(z), which
/// needs no second array.
constexpr bool derivativeNeedsSum(Activation activation) {
    // NOLINTBEGIN(bugprone-branch-clone): rows of the table may agree.
    switch (activation) {
#define ROW(index, id, name, formula, length, value, from, derivative)                                       \
    case Activation::id: return shared::from;
        LOCKSTEP_ACTIVATIONS(ROW)
#undef ROW
    }
    // NOLINTEND(bugprone-branch-clone)
    return false;
}

/// Whether that is so for any layer of the network.
inline bool anyLayerKeepsSums(const NetShape& shape) {
    return derivativeNeedsSum(shape.activation) || derivativeNeedsSum(shape.outputActivation);
}

/// f(z).
template <class number> number activate(Activation activation, number z) {
    using namespace scalar;
    switch (activation) {
#define ROW(index, id, name, formula, length, value, from, derivative)                                       \
    case Activation::id: return value;
        LOCKSTEP_ACTIVATIONS(ROW)
#undef ROW
    }
    return z;
}

/// f'(z), from `saved`: z where derivativeNeedsSum, else y = f(z).
template <class number> number activationDerivative(Activation activation, number saved) {
    using namespace scalar;
    const number z = saved;
    const number y = saved;
    switch (activation) {
#define ROW(index, id, name, formula, length, value, from, derivative)                                       \
    case Activation::id: return derivative;
        LOCKSTEP_ACTIVATIONS(ROW)
#undef ROW
    }
    return number(1);
}

} // namespace lockstep
