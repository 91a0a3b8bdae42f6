// What kind of operation of a step it is, and what it is called.
#pragma once

#include <string>

#include "engine/train/step_trace.h"

namespace lockstep::demos {

enum class OperationKind { gather, forward, loss, backwardInputs, backwardWeights, update };

OperationKind kindOf(const TracedOperation& operation);
/// "dense, layer 1", "loss_and_gradient".
std::string titleOf(const TracedOperation& operation);

} // namespace lockstep::demos
