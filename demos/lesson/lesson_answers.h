// What a learner has answered and measured, written as a file.
#pragma once

#include <filesystem>
#include <string>

#include "demos/lesson/answer_sheet.h"

namespace lockstep::demos {

/// With the present time. `pupil` as LessonDesk::pupil() returns it.
AnswerSheet answerSheet(const LessonRun& run, const MeasuredValues& values, const std::string& learner,
                        const std::string& pupil);
/// A name of its own for the sheet's file, with the present time.
std::string answerFileName(const AnswerSheet& sheet);
/// Writes it, atomically. Throws std::runtime_error.
void writeAnswerSheet(const AnswerSheet& sheet, const std::filesystem::path& file);

} // namespace lockstep::demos
