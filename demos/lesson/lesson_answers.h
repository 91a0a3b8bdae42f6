// What a learner has answered and measured, written as a file.
#pragma once

#include <filesystem>
#include <string>

#include "demos/lesson/answer_sheet.h"

namespace lockstep::demos {

/// With the present time. `pupil` as LessonDesk::pupil() returns it.
AnswerSheet answerSheet(const LessonRun& run, const MeasuredValues& values, const std::string& learner,
                        const std::string& pupil);
/// Writes it into the folder, atomically, under a name of its own, which it returns. Throws
/// std::runtime_error.
std::filesystem::path writeAnswerSheet(const AnswerSheet& sheet, const std::filesystem::path& folder);

} // namespace lockstep::demos
