// What is said of an operation of a step: names, formula, numbers.
#pragma once

#include <string>
#include <vector>

#include "demos/kit/operations.h"
#include "demos/words/text.h"
#include "engine/net/net_shape.h"
#include "engine/step/step_trace.h"

namespace lockstep::demos {

/// "forward, layer 1 of 3", "loss". `layers` of the network; people count them from 1.
std::string titleOf(const TracedOperation& operation, std::size_t layers);

/// The operation's name, and its short form for narrower bars: "backward: weights 2", "weights 2".
/// shortOnly   without the name where there is a short form
std::vector<std::string> barLabels(const TracedOperation& operation, bool shortOnly = false);
/// "A[1] = relu(A[0] W[0]^T + b[0])", with the layer's own indices.
std::string formulaOf(const TracedOperation& operation, const NetShape& shape, Optimizer optimizer);
/// What the letters of its formula are that are no tensors' names; empty where there are none.
std::string lettersOf(const TracedOperation& operation, const NetShape& shape);

/// Which operations of a step waited for earlier ones: at a barrier or, where each was submitted by itself,
/// for what these had written or read.
std::vector<bool> waitsOf(const StepTrace& trace);

/// What is known of a stretch of the timeline without an operation.
/// first   it lies before the first operation
const char* purposeOfGap(const MachineInfo& machine, bool first);

/// The same operation in another machine's trace; its index there, or the number of operations.
std::size_t counterpartOf(const TracedOperation& operation, const StepTrace& other);

inline std::string timeText(double milliseconds) { return duration(milliseconds * 1e-3); }
/// Operations or bytes per second: "12.3 GFLOP/s"; "-" where there is no time.
std::string rateText(double amount, double milliseconds, const char* unit);

} // namespace lockstep::demos
