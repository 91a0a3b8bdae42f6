// A learner's answers to a lesson, and the file that a teacher collects.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/lesson/lesson_run.h"

namespace lockstep::demos {

/// An answer and how it was judged.
struct SheetAnswer {
    std::string text;       ///< empty: none was given
    std::size_t choice = 0; ///< from 1; 0: it is no choice, or the sheet does not say
    AnswerVerdict verdict = AnswerVerdict::none;
};

/// A question of a lesson, with what a learner answered.
struct SheetQuestion {
    std::size_t step = 0; ///< from 1; 0: an earlier version wrote the sheet
    std::string title;    ///< of the step
    std::string text;
    SheetAnswer prediction; ///< the answer that was given first
    SheetAnswer answer;     ///< the one that stands now
};

/// What a learner's machine has measured in a step.
struct SheetValue {
    std::string name;  ///< "1:race.ratio"
    std::string title; ///< in the words of the question or answer that shows it; empty: none does
    std::string unit;  ///< "s"; empty: none
    double number = std::numeric_limits<double>::quiet_NaN();
    std::string text = {}; ///< of what is no number: "CPU"
};

struct AnswerSheet {
    std::string learner; ///< as typed
    std::string pupil;   ///< tells learners of the same name apart; empty: an earlier version wrote the sheet
    std::string lesson;  ///< its name, the same in all languages: "what-is-a-gpu"; empty: likewise
    std::string title;   ///< of the lesson
    std::string language; ///< of the lesson: "de"; empty: the one that it was written in
    std::string date;     ///< "2026-03-01 10:15"
    std::string machine;  ///< "AMD Ryzen 9 9950X, NVIDIA GeForce RTX 4090"
    std::vector<SheetQuestion> questions;
    std::vector<SheetValue> values;

    /// Predictions that were right.
    std::size_t right() const;
};

/// Whether JSON is an answer sheet at all: an object with its mark.
bool isAnswerSheet(const nlohmann::ordered_json& json);
nlohmann::ordered_json sheetJson(const AnswerSheet& sheet);
/// Reads one, also of earlier versions. What a terminal would obey is left out of its texts. Throws
/// std::invalid_argument naming the field.
AnswerSheet sheetFromJson(const nlohmann::ordered_json& json);

} // namespace lockstep::demos
