// Lessons as text, for terminals and screen readers.
#pragma once

#include <string>

#include "demos/lesson/lesson_run.h"

namespace lockstep::demos {

/// The step at hand with what was measured: its title, text and question, the right choice where it is known,
/// and the answer.
std::string stepText(const LessonRun& run, const MeasuredValues& values);

/// The question, its choices, and which of them is right, where that is known.
std::string questionText(const Question& question, const MeasuredValues& values);
/// What the teacher alone should see of it; empty: nothing.
std::string notesText(const LessonRun& run, const MeasuredValues& values);

} // namespace lockstep::demos
