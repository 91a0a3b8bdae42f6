// Reads lessons, and says everything that is wrong with a file at once.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/lesson/lesson.h"

namespace lockstep::demos {

/// Returns what can be read, and adds to `problems` what cannot.
Lesson lessonFromText(std::string_view text, const std::filesystem::path& file,
                      std::vector<LessonProblem>& problems);

/// The same of a file. Throws std::runtime_error if it cannot be read.
Lesson readLesson(const std::filesystem::path& file, std::vector<LessonProblem>& problems);

/// What a state says about itself in its fields "title", "about", "task" and "answer", as a lesson of one
/// step; of none where it says nothing. Throws std::invalid_argument naming the field that is no text or too
/// long.
Lesson lessonOfState(const nlohmann::ordered_json& state);

/// Throws std::runtime_error for a file that cannot be read, and std::invalid_argument with file, line and
/// text of the first problem.
Lesson readLesson(const std::filesystem::path& file);

/// The same as a whole: "lessons/what-is-a-gpu.md:12: ...".
std::string describe(const std::filesystem::path& file, const LessonProblem& problem);

} // namespace lockstep::demos
