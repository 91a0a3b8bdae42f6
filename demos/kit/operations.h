// How the program shows the operations of a training step (engine/plan/operation.h): words, sources, colours
// and patterns, for those of the recipe, for the whole step and for copies.
#pragma once

#include "demos/draw/ui.h"
#include "engine/plan/operation.h"

namespace lockstep::demos {

struct OperationWords {
    Operation operation = Operation::gatherBatch;
    const char* label = "";     ///< what the window shows: "forward", "backward: weights"
    const char* plainFile = ""; ///< the source of its plain loop, and the function there
    const char* plainFunction = "";
};
/// The words for the operation as which `operation` is shown.
const OperationWords& wordsOf(Operation operation);

ImU32 colourOf(const Theme& theme, Operation operation);
/// Fills a rectangle with the colour of the operation and, as a second cue, its pattern.
void fillOperation(const Ui& ui, ImDrawList& draw, ImVec2 min, ImVec2 max, Operation operation);

} // namespace lockstep::demos
