// Lessons as text, for terminals and screen readers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "demos/lesson/lesson_run.h"

namespace lockstep::demos {

/// The step at hand with what was measured: its title, text and question, the right choice where it is known,
/// and the answer.
std::string stepText(const LessonRun& run, const MeasuredValues& values);

/// The question, its choices, and which of them is right, where that is known.
std::string questionText(const Question& question, const MeasuredValues& values);
/// What the teacher alone should see of the step: notes, the question, what is right as far as the run has
/// measured it, and the answer, with blanks for the rest.
std::string notesText(const LessonRun& run);

/// What is filled in by hand.
inline const std::string leftBlank = "____";
/// A blank for each value that the lesson quotes.
MeasuredValues blanksOf(const Lesson& lesson);

/// The sentences of a paragraph. "12.3 ms" and "e.g. this" are no ends: a sentence begins with a capital, or
/// with a value.
std::vector<std::string_view> sentencesOf(std::string_view text);

/// A value that the step's question asks for, or that its question or answer quotes, in their words: "The CPU
/// trained ___ examples per second." Empty: neither shows it.
std::string valueTitle(const LessonStep& step, const std::string& name);

} // namespace lockstep::demos
