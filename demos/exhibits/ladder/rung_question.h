// What a rung is about, and what it asks the reader.
#pragma once

#include "demos/draw/ui.h"
#include "engine/step/rungs.h"

namespace lockstep::demos {

/// A rung's question in the rest of a line, wrapped if it is longer, and its answer below.
void drawQuestion(Ui& ui, const RungRow& rung, bool& answerShown);
/// The pixels that drawQuestion() needs beside what takes `used` pixels of a line `width` wide.
float questionHeight(Ui& ui, const RungRow& rung, bool answerShown, float used, float width);
/// Idea, question and answer below each other.
void drawIdea(Ui& ui, const RungRow& rung, bool& answerShown);

} // namespace lockstep::demos
