#include "demos/lesson/lesson_fields.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "demos/kit/assets.h"
#include "demos/lesson/lesson_file.h"
#include "engine/files/json_field.h"
#include "engine/files/json_text.h"

namespace lockstep::demos {

namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::uint64_t largestState = 1u << 20;
constexpr std::size_t mostInputs = 8;
constexpr std::string_view ownPrefix = "my."; // of what a lesson defines itself

constexpr std::string_view lessonFields[] = {"title",   "about", "minutes", "needs",
                                             "sources", "place", "group",   "values"};
constexpr std::string_view stepFields[] = {"state", "point",  "wait",      "ask",    "choices",
                                           "right", "value",  "tolerance", "sketch", "within",
                                           "cover", "inputs", "answer",    "notes",  "try"};

/// Names lead to files beside the lesson, or to presets, and to no other folder.
ordered_json stateNamed(const std::string& name, const fs::path& folder) {
    const fs::path file = name;
    if (file.empty() || file != file.filename() || file == "." || file == "..")
        throw std::invalid_argument(fmt::format("'{}' must be a file's name without a folder", name));
    std::error_code unknown;
    for (const fs::path& each : {folder, assetFolder("presets")})
        if ((!each.empty() || folder.empty()) && fs::is_regular_file(each / file, unknown))
            return readJsonFile(each / file, largestState);
    std::vector<std::string> presets;
    for (const fs::path& preset : presetFiles()) presets.push_back(preset.filename().string());
    const std::vector<std::string_view> known(presets.begin(), presets.end());
    const std::string_view near = nearestName(name, known);
    throw std::invalid_argument(fmt::format(
        "there is no state '{}', neither beside the lesson nor among the presets{}; `lockstep show --list` "
        "lists presets",
        name, near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
}

std::vector<std::string> texts(const ordered_json& json, const char* name) {
    if (!jsonHolds<std::vector<std::string>>(json))
        throw std::invalid_argument(fmt::format("'{}' must be a list of texts", name));
    return json.get<std::vector<std::string>>();
}

void checkKnown(const ordered_json& object, std::span<const std::string_view> known, const char* what) {
    if (!object.is_object()) return;
    for (const auto& [name, value] : object.items())
        if (std::ranges::find(known, name) == known.end()) throwUnknownName(what, name, known);
}

/// The name of what a lesson defines: texts tell it from what was measured.
std::string ownName(const std::string& name) {
    if (!name.starts_with(ownPrefix) || name.size() == ownPrefix.size())
        throw std::invalid_argument(fmt::format("'{}' must begin with '{}'", name, ownPrefix));
    return valueName(name);
}

/// Reads one map of fields: what a reader throws becomes a problem of that field's line.
class Fields {
  public:
    Fields(const YamlMap& map, std::span<const std::string_view> known, std::vector<LessonProblem>& problems)
        : map_(map), problems_(problems) {
        for (const auto& field : map.fields.items()) {
            const std::string& name = field.key();
            guarded(name, [&] {
                if (std::ranges::find(known, name) == known.end()) throwUnknownName("field", name, known);
            });
        }
    }

    bool has(const char* name) const { return map_.fields.contains(name); }
    void problem(const std::string& field, std::string text) {
        problems_.push_back({map_.lineOf(field), std::move(text)});
    }
    /// Hands the field to `action`, if it is there.
    template <class Action> void read(const char* name, Action action) {
        if (has(name)) guarded(name, [&] { action(map_.fields.at(name)); });
    }
    template <class T> void take(const char* name, T& target) {
        read(name, [&](const ordered_json&) { target = jsonValue<T>(map_.fields, name); });
    }

  private:
    template <class Action> void guarded(const std::string& name, Action action) {
        try {
            action();
        } catch (const std::exception& error) {
            problem(name, error.what());
        }
    }

    const YamlMap& map_;
    std::vector<LessonProblem>& problems_;
};

/// A step without words of its own has those of its state.
void takeTexts(LessonStep& step, ordered_json& state) {
    const Lesson own = lessonOfState(state);
    for (const char* name : {"title", "about", "task", "answer"}) state.erase(name);
    if (own.steps.empty() || step.text.find_first_not_of(" \n") != std::string::npos) return;
    step.text = own.steps.front().text;
    if (step.answer.empty()) step.answer = own.steps.front().answer;
}

/// A lesson presses and types what a learner would, and does not go on for ever. That it saves nothing is
/// seen to while it does so (ShowOptions::savesNothing).
void checkTry(const std::string& line) {
    constexpr std::string_view verbs[] = {"click", "try",   "rightclick", "hover", "drag", "dragto",
                                          "move",  "wheel", "type",       "await", "key"};
    const std::string verb = line.substr(0, line.find(' '));
    if (std::ranges::find(verbs, verb) == std::end(verbs)) throwUnknownName("command of 'try'", verb, verbs);
    const bool commands = verb == "key" && line.find("Ctrl") != std::string::npos;
    if (line.find_first_of("\r\n") != std::string::npos || commands)
        throw std::invalid_argument("a command of 'try' is one line, and presses no key with Ctrl");
}

Choice choiceFrom(const ordered_json& json) {
    if (json.is_string()) return {json.get<std::string>(), std::nullopt};
    if (json.is_number()) return {json.dump(), std::nullopt};
    constexpr std::string_view known[] = {"text", "when"};
    checkKnown(json, known, "field of a choice");
    Choice choice{jsonValue<std::string>(json, "text"), std::nullopt};
    if (json.contains("when")) choice.when = conditionFromText(jsonValue<std::string>(json, "when"));
    return choice;
}

LessonInput inputFrom(const ordered_json& json) {
    constexpr std::string_view known[] = {"name", "label", "unit", "value", "about"};
    checkKnown(json, known, "field of an input");
    return {.name = ownName(jsonValue<std::string>(json, "name")),
            .label = jsonValue<std::string>(json, "label"),
            .unit = jsonValueOr<std::string>(json, "unit", ""),
            .number = jsonValue<double>(json, "value"),
            .about = jsonValueOr<std::string>(json, "about", "")};
}

/// Choices, a number or a sketch: each has fields of its own.
void checkKind(const Question& question, Fields& fields) {
    const auto conditional = [](const Choice& each) { return each.when.has_value(); };
    const bool measured = std::ranges::any_of(question.choices, conditional);
    const bool answered = fields.has("right");
    if (fields.has("sketch")) {
        for (const char* name : {"choices", "right", "value", "tolerance"})
            if (fields.has(name)) fields.problem(name, fmt::format("a sketch has no '{}'", name));
        return;
    }
    if (fields.has("within")) fields.problem("within", "'within' belongs to a 'sketch'");
    if (question.choices.empty()) {
        if (answered == fields.has("value"))
            fields.problem("ask", "a number needs either 'right' or the name of a measured 'value'");
        return;
    }
    if (measured && !std::ranges::all_of(question.choices, conditional))
        fields.problem("ask", "either all choices have a condition 'when', or none");
    if (fields.has("value")) fields.problem("ask", "a question with choices asks for no 'value'");
    if (answered == measured)
        fields.problem("ask", "choices need either 'right: NUMBER' or conditions 'when'");
}

void readQuestion(Question& question, Fields& fields) {
    fields.take("ask", question.text);
    fields.read("choices", [&](const ordered_json& json) {
        if (!json.is_array() || json.size() < 2 || json.size() > 6)
            throw std::invalid_argument("'choices' must be a list of two to six");
        for (const auto& each : json) question.choices.push_back(choiceFrom(each));
    });
    fields.read("tolerance", [&](const ordered_json& json) {
        if (!json.is_number() || json.get<double>() < 0)
            throw std::invalid_argument("'tolerance' must be a number, and not negative");
        question.tolerance = json.get<double>();
    });
    fields.take("value", question.value);
    fields.take("sketch", question.sketch);
    fields.read("within", [&](const ordered_json& json) {
        if (!json.is_number() || json.get<double>() < 1)
            throw std::invalid_argument("'within' must be a factor of at least 1");
        question.within = json.get<double>();
    });
    fields.read("right", [&](const ordered_json& json) {
        if (question.choices.empty()) {
            if (!json.is_number()) throw std::invalid_argument("'right' must be a number");
            question.number = json.get<double>();
            return;
        }
        if (!json.is_number_unsigned() || json.get<std::size_t>() < 1 ||
            json.get<std::size_t>() > question.choices.size())
            throw std::invalid_argument(
                fmt::format("'right' must be a choice from 1 to {}", question.choices.size()));
        question.right = json.get<std::size_t>() - 1;
    });
    checkKind(question, fields);
}

} // namespace

void readLessonFields(Lesson& lesson, const YamlMap& map, std::vector<LessonProblem>& problems) {
    Fields fields(map, lessonFields, problems);
    lesson.lines = map.lines;
    fields.take("title", lesson.title);
    fields.take("about", lesson.about);
    fields.take("minutes", lesson.minutes);
    fields.take("place", lesson.place);
    fields.take("group", lesson.group);
    fields.read("needs", [&](const ordered_json& json) { lesson.needs = texts(json, "needs"); });
    fields.read("sources", [&](const ordered_json& json) { lesson.sources = texts(json, "sources"); });
    fields.read("values", [&](const ordered_json& json) {
        if (!json.is_object()) throw std::invalid_argument("'values' must be a list of 'NAME: FORMULA'");
        for (const auto& [name, formula] : json.items())
            lesson.formulas.push_back(
                {ownName(name),
                 Expression::fromText(formula.is_string() ? formula.get<std::string>() : formula.dump())});
    });
}

void readStepFields(LessonStep& step, const YamlMap& map, const fs::path& folder,
                    std::vector<LessonProblem>& problems) {
    Fields fields(map, stepFields, problems);
    step.lines = map.lines;
    fields.take("point", step.point);
    fields.take("answer", step.answer);
    fields.take("notes", step.notes);
    fields.read("state", [&](const ordered_json& json) {
        if (!json.is_string() && !json.is_object())
            throw std::invalid_argument("'state' must be a file's name or the fields of a state");
        ordered_json state = json.is_string() ? stateNamed(json.get<std::string>(), folder) : json;
        if (json.is_object()) state["lockstep"] = 1;
        // A step shows what it names: what an earlier one has hidden comes back.
        if (!state.contains("hidden")) state["hidden"] = ordered_json::array();
        // These are the reader's and the teacher's choice.
        for (const char* name : {"language", "presenter"}) state.erase(name);
        takeTexts(step, state);
        step.state = state.dump();
    });
    fields.read("wait", [&](const ordered_json& json) {
        if (!json.is_string()) throw std::invalid_argument("'wait' must be a condition");
        step.wait = conditionFromText(json.get<std::string>());
    });
    fields.read("inputs", [&](const ordered_json& json) {
        if (!json.is_array() || json.size() > mostInputs)
            throw std::invalid_argument(fmt::format("'inputs' must be a list of at most {}", mostInputs));
        for (const auto& each : json) step.inputs.push_back(inputFrom(each));
    });
    fields.read("try", [&](const ordered_json& json) {
        step.tries = texts(json, "try");
        for (const std::string& each : step.tries) checkTry(each);
    });
    fields.take("cover", step.cover);
    if (fields.has("ask")) return readQuestion(step.ask.emplace(), fields);
    for (const char* name : {"choices", "right", "value", "tolerance", "sketch", "within", "cover"})
        if (fields.has(name))
            fields.problem(name, fmt::format("'{}' belongs to a question, and there is no 'ask'", name));
}

} // namespace lockstep::demos
