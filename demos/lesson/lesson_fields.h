// The fields of a lesson and of its steps, between the texts of its file.
#pragma once

#include <filesystem>
#include <vector>

#include "demos/lesson/lesson.h"

namespace lockstep::demos {

/// What describes the lesson as a whole: title, sources, formulas. What is wrong is added to `problems`.
void readLessonFields(Lesson& lesson, const YamlMap& map, std::vector<LessonProblem>& problems);

/// What a step does. Its text has been read already: a state stands in for one that is empty.
///   folder   of the lesson's file: states are looked for there, and among the presets
void readStepFields(LessonStep& step, const YamlMap& map, const std::filesystem::path& folder,
                    std::vector<LessonProblem>& problems);

} // namespace lockstep::demos
