// What a rung is about, and what it asks the reader.
#pragma once

#include "demos/draw/ui.h"
#include "engine/step/rungs.h"

namespace lockstep::demos {

/// A rung's question in the rest of a line, and its answer below.
void drawQuestion(Ui& ui, const RungRow& rung, bool& answerShown);
/// Idea, question and answer below each other.
void drawIdea(Ui& ui, const RungRow& rung, bool& answerShown);

} // namespace lockstep::demos
