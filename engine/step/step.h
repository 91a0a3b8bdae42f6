// The recipe of a training step and of an evaluation, the same for every
// backend.
#pragma once

#include "engine/net/net_shape.h"
#include "engine/step/ops.h"

namespace lockstep {

/// One step of minibatch gradient descent.
void trainStep(Ops& ops, const NetShape& net, const StepSettings& step);

/// Forward pass and score of examples [first, first + rows) of a split.
void scoreRange(Ops& ops, const NetShape& net, Split split, std::size_t first, std::size_t rows);

} // namespace lockstep
