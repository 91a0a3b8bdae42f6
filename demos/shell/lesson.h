// What a state says about itself, beside its exhibit: a title, what it shows, a task and the answer. And
// lists of states, for an hour of teaching:
//   {"lockstep": 1, "title": "First hour", "states": ["race-tiny.json", {"lockstep": 1, "exhibit": "map"}]}
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/draw/ui.h"

namespace lockstep::demos {

struct Lesson {
    std::string title;
    std::string about;
    std::string task;
    std::string answer;
    std::string exhibit; ///< the id of the one that it is about
    bool answerShown = false;

    bool empty() const { return title.empty() && about.empty() && task.empty() && answer.empty(); }
};

/// The fields "title", "about", "task" and "answer"; one that is missing is empty. Throws
/// std::invalid_argument naming the field that is no text or too long.
Lesson lessonFromJson(const nlohmann::ordered_json& state);
/// Writes the fields that are not empty.
void addTo(nlohmann::ordered_json& state, const Lesson& lesson);

struct StateList {
    struct Entry {
        std::filesystem::path file; ///< empty: the state is in the list itself
        std::string state;          ///< JSON
    };

    std::string title;
    std::vector<Entry> entries; ///< 1 to 100
    std::size_t at = 0;         ///< the entry shown

    /// "entry 2 (race-tiny.json)"
    std::string nameOf(std::size_t index) const;
};

bool isStateList(const nlohmann::ordered_json& json);
/// `folder` is where paths begin. Throws std::invalid_argument naming the entry. Files are not read.
StateList stateListFromJson(const nlohmann::ordered_json& json, const std::filesystem::path& folder);

enum class LessonPress { none, back, next, close };

/// At the top of the side panel. `list`: null if the state is in none.
LessonPress drawLesson(Ui& ui, Lesson& lesson, const StateList* list);
/// Above the exhibit, where there is no side panel: the title, the task and the answer.
LessonPress drawLessonLine(Ui& ui, Lesson& lesson, const StateList* list);

} // namespace lockstep::demos
