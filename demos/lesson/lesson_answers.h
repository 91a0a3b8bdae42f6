// What learners have answered, as files that a teacher collects, and the table of a class.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "demos/lesson/lesson_run.h"

namespace lockstep::demos {

/// A learner's answer to one question.
struct SheetAnswer {
    std::string step; ///< title
    std::string question;
    std::string answer; ///< empty: none was given
    AnswerVerdict verdict = AnswerVerdict::none;
};

/// A learner's answers to the questions of a lesson.
struct AnswerSheet {
    std::string learner; ///< as typed
    std::string lesson;  ///< title
    std::string date;    ///< "2026-03-01 10:15"
    std::string machine; ///< "AMD Ryzen 9 9950X, NVIDIA GeForce RTX 4090"
    std::vector<SheetAnswer> answers;

    std::size_t right() const;
};

/// With the present time.
AnswerSheet answerSheet(const LessonRun& run, const MeasuredValues& values, const std::string& learner);
/// Writes it into the folder, atomically, under a name of its own, which it returns. Throws
/// std::runtime_error.
std::filesystem::path writeAnswerSheet(const AnswerSheet& sheet, const std::filesystem::path& folder);

/// Reads every answer file of a folder, by lesson and learner; of a learner's several files for a lesson the
/// latest. Other JSON files are passed over; what is wrong with an answer file is added to `problems`. Throws
/// std::runtime_error for a folder that cannot be read.
std::vector<AnswerSheet> readAnswerSheets(const std::filesystem::path& folder,
                                          std::vector<std::string>& problems);

/// For each lesson, who answered what rightly, and what was answered wrongly most.
std::string resultsText(std::span<const AnswerSheet> sheets);
/// A line for each learner and question.
std::string resultsCsv(std::span<const AnswerSheet> sheets);

} // namespace lockstep::demos
