// An operation of a trace: of which kind it is, and its name.
#pragma once

#include <string>

#include "demos/kit/operations.h"
#include "engine/step/step_trace.h"

namespace lockstep::demos {

inline OperationKind kindOf(const TracedOperation& operation) { return kindOf(operation.name); }
/// "forward, layer 1 of 3", "loss". `layers` of the network; people count them from 1.
std::string titleOf(const TracedOperation& operation, std::size_t layers);

} // namespace lockstep::demos
