// Texts that quote measured values and depend on them: those of lessons (docs/lessons.md) and of experiments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "demos/kit/measured.h"
#include "demos/telling/markdown.h"

namespace lockstep::demos {

/// Among the values of a lesson: the number of the step that its texts are shown in.
inline const std::string presentStepName = "lesson.step";

/// A paragraph or item may begin with what it depends on, in braces; several conditions must all hold:
///   {software} {hardware}                      the device that GPU lanes run on
///   {measured NAME} {unmeasured NAME}          whether there is a value
///   {if CONDITION}                             as conditionFromText() reads it
/// {{NAME}} in a text is the value of that name, {{NAME / 2 + 1}} that of an expression, and
/// {{NAME | thread | threads}} says "1 thread" or "12 threads". Returns the blocks that hold, with the values
/// in place; what is not measured yet says so.
std::vector<TextBlock> filledBlocks(std::string_view markdown, const MeasuredValues& values);

/// The same without those that quote something that is not measured yet.
std::vector<TextBlock> knownBlocks(std::string_view markdown, const MeasuredValues& values);

/// A text of one line, with the values in place. A formula of something that is a text, such as a blank to be
/// filled in, is that text.
std::string filledText(std::string_view text, const MeasuredValues& values);

/// The names that a text quotes or depends on. Throws std::invalid_argument for what cannot be read.
std::vector<std::string> quotedNames(std::string_view markdown);

/// The unit of the number of that name: "s", "samples/s"; empty: none.
std::string_view unitOf(std::string_view name);

/// How a value reads: "1.94 ms", "88.3 %", "289k". "not measured yet" where that is so.
std::string valueText(const MeasuredValues& values, std::string_view name);

} // namespace lockstep::demos
