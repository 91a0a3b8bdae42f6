// YAML, as lessons use it between their texts, read into JSON: states are JSON everywhere else.
#pragma once

#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace lockstep::demos {

/// A problem in a lesson's file.
struct LessonProblem {
    std::size_t line = 0; ///< from 1; 0: the file as a whole
    std::string text;
};

struct LessonError : std::invalid_argument {
    explicit LessonError(LessonProblem found) : invalid_argument(found.text), problem(std::move(found)) {}
    LessonProblem problem;
};

struct YamlMap {
    nlohmann::ordered_json fields; ///< an object
    std::map<std::string, std::size_t>
        lines;            ///< of each field: in the file; of a field's own as "FIELD/NAME"
    std::size_t line = 0; ///< where it begins

    std::size_t lineOf(const std::string& field) const {
        const auto found = lines.find(field);
        return found == lines.end() ? line : found->second;
    }
};

/// Reads a map. `firstLine` is where the text begins in its file. Throws LessonError with the line: for what
/// is no YAML or no map, a field that stands twice, and more than 10,000 values (aliases can multiply).
YamlMap readYaml(std::string_view text, std::size_t firstLine);

} // namespace lockstep::demos
