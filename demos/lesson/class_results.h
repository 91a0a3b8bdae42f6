// The answers of a class: its sheets, as a table, for a spreadsheet and as a page.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "demos/lesson/answer_sheet.h"

namespace lockstep::demos {

/// Reads every answer file of a folder, one sheet per lesson and pupil, by lesson and learner. Of a pupil's
/// several files for a lesson, the latest says the answers, and the first one the predictions. A sheet in
/// another language is of the same lesson. Sheets of earlier versions find their lesson by its title. Other
/// JSON files are passed over; what is wrong with an answer file is added to `problems`. Throws
/// std::runtime_error for a folder that cannot be read.
std::vector<AnswerSheet> readAnswerSheets(const std::filesystem::path& folder,
                                          std::vector<std::string>& problems);

/// For each lesson, who predicted what rightly, and what was predicted wrongly most: a row for each pupil, a
/// column for each question.
std::string resultsText(std::span<const AnswerSheet> sheets);
/// The same with all answers and measured values, for a spreadsheet.
std::string resultsCsv(std::span<const AnswerSheet> sheets);
/// The same as a page, with a plot for each measured value over all machines.
std::string resultsHtml(std::span<const AnswerSheet> sheets);

} // namespace lockstep::demos
