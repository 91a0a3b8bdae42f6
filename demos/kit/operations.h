// The operations of a training step: the one table of their names, words, sources, colours and patterns.
#pragma once

#include <string_view>

#include "demos/draw/ui.h"

namespace lockstep::demos {

/// In the order of the recipe; wholeStep is all of them in one kernel.
enum class OperationKind { gather, forward, loss, backwardInputs, backwardWeights, update, wholeStep };

/// The operations of the recipe.
inline constexpr OperationKind operationKinds[] = {
    OperationKind::gather,         OperationKind::forward,         OperationKind::loss,
    OperationKind::backwardInputs, OperationKind::backwardWeights, OperationKind::update};

struct OperationRow {
    std::string_view name; ///< of function, kernel and shader: "dense_backward_weights"
    const char* label;     ///< what the window shows: "forward", "backward: weights"
    const char* purpose;   ///< what it does, in a sentence or two
    const char* plainFile; ///< the source of its plain loop, and the function there
    const char* plainFunction;
};
const OperationRow& rowOf(OperationKind kind);
/// From a name as in sources and traces.
OperationKind kindOf(std::string_view operation);

ImU32 colourOf(const Theme& theme, OperationKind kind);
/// Fills a rectangle with the colour of the kind and, as a second cue, its pattern.
void fillOperation(const Ui& ui, ImDrawList& draw, ImVec2 min, ImVec2 max, OperationKind kind);

} // namespace lockstep::demos
