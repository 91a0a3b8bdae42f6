// A lesson: a path through the exhibits, as its author writes it (docs/lessons.md).
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/lesson/lesson_yaml.h"
#include "demos/telling/expression.h"

namespace lockstep::demos {

struct Choice {
    std::string text;
    std::optional<Condition> when; ///< it is the right one if this holds, and it is the first such
};

struct Question {
    std::string text;
    std::vector<Choice> choices;      ///< empty: a number is asked for
    std::optional<std::size_t> right; ///< of the choices, where no measurement decides
    std::string value;                ///< the measured value asked for; empty: `number`
    double number = 0;
    double tolerance = 0.1; ///< share of the right number
    std::string sketch;     ///< the experiment whose curve is to be sketched; empty: none
    double within = 2;      ///< a sketch is right if it is typically off by at most this factor
};

/// A number that readers may replace by their own: a price, say.
struct LessonInput {
    std::string name;  ///< "my.price_euros": texts and formulas quote it
    std::string label; ///< "Electricity"
    std::string unit;  ///< "euros per kWh"
    double number = 0; ///< until somebody types another one
    std::string about; ///< where that comes from
};

/// A value that a lesson works out of others.
struct LessonFormula {
    std::string name; ///< "my.hours"
    Expression expression;
};

struct LessonStep {
    std::string title;
    std::string text;              ///< Markdown
    std::string state;             ///< JSON, as state files have it; empty: what was there before stays
    std::string point;             ///< the name of a control to draw a ring around; empty: none
    std::optional<Condition> wait; ///< the step is done once this holds
    std::optional<Question> ask;
    bool cover = false; ///< the exhibit is not shown until the question about it is answered
    std::vector<LessonInput> inputs;
    std::string answer;             ///< Markdown, shown on demand or after an answer
    std::string notes;              ///< Markdown, for the teacher alone
    std::vector<std::string> tries; ///< what a learner does here, in the words of window scripts
    std::size_t line = 0;           ///< in the file, of its title
    std::map<std::string, std::size_t> lines = {}; ///< of its fields
};

struct Lesson {
    std::filesystem::path file; ///< empty: made by the program
    std::string name;           ///< "what-is-a-gpu": the file's, without its endings
    std::string language;       ///< "de" of "what-is-a-gpu.de.md"; empty: the language it was written in
    std::string title;
    std::string about; ///< one sentence
    std::size_t minutes = 0;
    std::vector<std::string> needs; ///< names of lessons that come before
    std::vector<std::string> sources;
    std::vector<LessonFormula> formulas; ///< each uses what stands before it
    std::size_t place = 1000;            ///< in the list: lower ones come first
    std::string group;                   ///< heading in the list; empty: none
    std::vector<LessonStep> steps;
    std::map<std::string, std::size_t> lines = {}; ///< of its fields
};

/// A value that a lesson uses, and where.
struct UsedValue {
    std::string name;
    std::size_t step; ///< from 0; as many as there are steps: in a formula of the lesson
    std::size_t line;
};
std::vector<UsedValue> usedValues(const Lesson& lesson);

} // namespace lockstep::demos
