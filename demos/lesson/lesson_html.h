// A lesson on paper: what a class writes on, and the teacher's copy of it.
#pragma once

#include <filesystem>
#include <string>

#include "demos/lesson/lesson_run.h"

namespace lockstep::demos {

/// What stands above the steps: lines for name, class and, unless it is the teacher's copy, the device, how
/// long it takes, and today's date.
std::string headerHtml(const Lesson& lesson, bool answers);

/// The step at hand as a section of a page.
///   picture   a PNG file that becomes part of it
///   answers   also the right choice or number, where it is known, the answer, and the notes for the teacher;
///             else nothing that was measured, or is asked for, is told
std::string stepHtml(const LessonRun& run, const MeasuredValues& values, const std::filesystem::path& picture,
                     bool answers);

/// What stands below the steps: a line for the score, "____ of 6 as predicted"; empty without questions.
std::string endingHtml(const Lesson& lesson);

} // namespace lockstep::demos
