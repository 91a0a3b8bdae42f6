// What a learner has answered and measured, written as a file.
#pragma once

#include <filesystem>
#include <string>

#include "demos/lesson/answer_sheet.h"

namespace lockstep::demos {

/// "AMD Ryzen 9 9950X, NVIDIA GeForce RTX 4090": what measured here, and whether that is no GPU.
std::string machinesText(const MeasuredValues& values);
/// The present date and time, as answer sheets have it.
std::string presentDate();
/// With the present time. `pupil` as LessonDesk::pupil() returns it.
AnswerSheet answerSheet(const LessonRun& run, const MeasuredValues& values, const std::string& learner,
                        const std::string& pupil);
/// A name of its own for the sheet's file, with the present time.
std::string answerFileName(const AnswerSheet& sheet);
/// Writes it, atomically. Throws std::runtime_error.
void writeAnswerSheet(const AnswerSheet& sheet, const std::filesystem::path& file);

} // namespace lockstep::demos
