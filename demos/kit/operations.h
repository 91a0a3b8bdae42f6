// The operations that a step is made of: names, colours and patterns, the same in every exhibit.
#pragma once

#include <cstddef>
#include <string_view>

#include "demos/draw/ui.h"

namespace lockstep::demos {

/// In the order of a step; wholeStep is all of them in one kernel.
enum class OperationKind { gather, forward, loss, backwardInputs, backwardWeights, update, wholeStep };

/// Those that a step is made of, as the recipe tells it.
inline constexpr OperationKind operationKinds[] = {
    OperationKind::gather,         OperationKind::forward,         OperationKind::loss,
    OperationKind::backwardInputs, OperationKind::backwardWeights, OperationKind::update};

/// Of a name as in sources and traces: "dense_backward_weights".
OperationKind kindOf(std::string_view operation);
/// "dense_backward_weights": function, kernel and shader.
std::string_view nameOf(OperationKind kind);
/// What people read: "forward", "backward: weights".
const char* labelOf(OperationKind kind);
/// What it is for, in a sentence.
const char* purposeOf(OperationKind kind);

ImU32 colourOf(const Theme& theme, OperationKind kind);
/// A rectangle in the colour of a kind of operation, and the second cue, its pattern.
void fillOperation(const Ui& ui, ImDrawList& draw, ImVec2 min, ImVec2 max, OperationKind kind);

} // namespace lockstep::demos
