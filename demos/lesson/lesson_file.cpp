#include "demos/lesson/lesson_file.h"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "demos/kit/assets.h"
#include "demos/kit/source_text.h"
#include "engine/files/file_bytes.h"
#include "engine/files/json_field.h"
#include "engine/files/json_text.h"

namespace lockstep::demos {

namespace {

using nlohmann::ordered_json;

constexpr std::uint64_t largestLesson = 1u << 18;
constexpr std::uint64_t largestState = 1u << 20;
constexpr std::size_t mostSteps = 100;
constexpr std::size_t longestText = 2000; // bytes: more would fill the panel

constexpr std::string_view frontFields[] = {"title", "about", "minutes", "needs", "sources", "place"};
constexpr std::string_view stepFields[] = {"state", "point", "wait",      "ask",    "choices",
                                           "right", "value", "tolerance", "answer", "try"};

using Lines = std::span<const std::string_view>;

std::string joined(Lines lines) {
    std::string text;
    for (const std::string_view line : lines) text += std::string(line) + '\n';
    return text;
}

namespace fs = std::filesystem;

/// Names lead to files beside the lesson, or to presets, and to no other folder.
ordered_json stateNamed(const std::string& name, const fs::path& folder) {
    const fs::path file = name;
    if (file.empty() || file != file.filename() || file == "." || file == "..")
        throw std::invalid_argument(fmt::format("'{}' must be a file's name without a folder", name));
    std::error_code unknown;
    for (const fs::path& each : {folder, assetFolder("presets")})
        if ((!each.empty() || folder.empty()) && fs::is_regular_file(each / file, unknown))
            return readJsonFile(each / file, largestState);
    throw std::invalid_argument(
        fmt::format("there is no state '{}', neither beside the lesson nor among the presets", name));
}

bool isFence(std::string_view line) { return line.starts_with("```"); }
bool isTitle(std::string_view line) { return line.starts_with("## "); }

class Reader {
  public:
    Reader(Lines lines, const fs::path& folder, std::vector<LessonProblem>& problems)
        : lines_(lines), folder_(folder), problems_(problems) {}

    void read(Lesson& lesson) {
        const std::size_t body = readFront(lesson);
        std::size_t begin = body;
        while (begin < lines_.size() && !isTitle(lines_[begin])) {
            if (lines_[begin].find_first_not_of(" \t") != std::string_view::npos)
                return report(begin, "a step begins with '## ' and its title; nothing else may come before");
            ++begin;
        }
        while (begin < lines_.size()) {
            const std::size_t end = stepEnd(begin);
            if (lesson.steps.size() == mostSteps)
                return report(begin, fmt::format("more than {} steps", mostSteps));
            lesson.steps.push_back(readStep(begin, end));
            const std::string& title = lesson.steps.back().title;
            if (std::ranges::count(lesson.steps, title, &LessonStep::title) > 1)
                report(begin, fmt::format("another step is called '{}': answers are kept by title", title));
            begin = end;
        }
        if (lesson.steps.empty()) problems_.push_back({0, "it has no step: write '## ' and a title"});
    }

  private:
    void report(std::size_t index, std::string text) { problems_.push_back({index + 1, std::move(text)}); }

    // What a reader throws becomes a problem of that field's line.
    template <class Action> void field(const YamlMap& map, const char* name, Action action) {
        if (!map.fields.contains(name)) return;
        try {
            action(map.fields.at(name));
        } catch (const std::exception& error) {
            problems_.push_back({map.lineOf(name), error.what()});
        }
    }

    YamlMap yaml(std::size_t begin, std::size_t end, std::span<const std::string_view> known) {
        YamlMap map;
        try {
            map = readYaml(joined(lines_.subspan(begin, end - begin)), begin + 1);
        } catch (const LessonError& error) {
            problems_.push_back(error.problem);
        }
        for (const auto& [name, value] : map.fields.items())
            if (std::ranges::find(known, name) == known.end()) try {
                    throwUnknownName("field", name, known);
                } catch (const std::exception& error) {
                    problems_.push_back({map.lineOf(name), error.what()});
                }
        return map;
    }

    /// Returns the line after it.
    std::size_t readFront(Lesson& lesson) {
        const auto dashes = [](std::string_view line) { return line == "---"; };
        if (lines_.empty() || !dashes(lines_.front())) {
            problems_.push_back({1, "a lesson begins with '---', its title and other fields, and '---'"});
            return 0;
        }
        const auto close = std::find_if(lines_.begin() + 1, lines_.end(), dashes);
        if (close == lines_.end()) {
            problems_.push_back({1, "the second '---' is missing"});
            return lines_.size();
        }
        const auto end = static_cast<std::size_t>(close - lines_.begin());
        const YamlMap map = yaml(1, end, frontFields);
        const ordered_json& fields = map.fields;
        field(map, "title",
              [&](const ordered_json&) { lesson.title = jsonValue<std::string>(fields, "title"); });
        field(map, "about",
              [&](const ordered_json&) { lesson.about = jsonValue<std::string>(fields, "about"); });
        field(map, "minutes",
              [&](const ordered_json&) { lesson.minutes = jsonValue<std::size_t>(fields, "minutes"); });
        field(map, "place",
              [&](const ordered_json&) { lesson.place = jsonValue<std::size_t>(fields, "place"); });
        field(map, "needs", [&](const ordered_json& json) { lesson.needs = texts(json, "needs"); });
        field(map, "sources", [&](const ordered_json& json) { lesson.sources = texts(json, "sources"); });
        if (lesson.title.empty()) problems_.push_back({1, "the field 'title' is missing"});
        return end + 1;
    }

    static std::vector<std::string> texts(const ordered_json& json, const char* name) {
        if (!jsonHolds<std::vector<std::string>>(json))
            throw std::invalid_argument(fmt::format("'{}' must be a list of texts", name));
        return json.get<std::vector<std::string>>();
    }

    std::size_t stepEnd(std::size_t begin) const {
        bool fenced = false;
        for (std::size_t i = begin + 1; i < lines_.size(); ++i) {
            if (isFence(lines_[i])) fenced = !fenced;
            if (!fenced && isTitle(lines_[i])) return i;
        }
        return lines_.size();
    }

    LessonStep readStep(std::size_t begin, std::size_t end) {
        LessonStep step;
        step.title = lines_[begin].substr(3);
        step.line = begin + 1;
        std::optional<YamlMap> fields;
        for (std::size_t i = begin + 1; i < end; ++i) {
            if (lines_[i] != "```step") {
                step.text += std::string(lines_[i]) + '\n';
                if (!isFence(lines_[i])) continue;
                // Code of the text: as it is, to its end.
                while (++i < end && !isFence(lines_[i])) step.text += std::string(lines_[i]) + '\n';
                if (i == end) report(begin, "a code block has no end: '```' is missing");
                if (i < end) step.text += "```\n";
                continue;
            }
            const std::size_t first = i + 1;
            while (++i < end && lines_[i] != "```") {
            }
            if (i == end) report(first - 1, "this block has no end: '```' is missing");
            if (fields) report(first - 1, "a step has at most one block '```step'");
            fields = yaml(first, i, stepFields);
        }
        if (fields) readFields(step, *fields); // after its text, which a state may stand in for
        checkText(step.text, step.line);
        const auto line = [&](const char* name) {
            return step.lines.contains(name) ? step.lines.at(name) : step.line;
        };
        checkText(step.answer, line("answer"));
        if (!step.ask) return step;
        try {
            filledText(step.ask->text, {});
        } catch (const std::exception& error) {
            problems_.push_back({line("ask"), error.what()});
        }
        return step;
    }

    void checkText(const std::string& text, std::size_t line) {
        if (text.size() > longestText)
            problems_.push_back({line, fmt::format("a text of more than {} bytes", longestText)});
        try {
            markdownBlocks(text);
            quotedNames(text);
        } catch (const std::exception& error) {
            problems_.push_back({line, error.what()});
        }
    }

    void readFields(LessonStep& step, const YamlMap& map) {
        const ordered_json& fields = map.fields;
        step.lines = map.lines;
        const auto text = [&](const char* name, std::string& target) {
            field(map, name, [&](const ordered_json&) { target = jsonValue<std::string>(fields, name); });
        };
        text("point", step.point);
        text("answer", step.answer);
        field(map, "state", [&](const ordered_json& json) {
            if (!json.is_string() && !json.is_object())
                throw std::invalid_argument("'state' must be a file's name or the fields of a state");
            ordered_json state = json.is_string() ? stateNamed(json.get<std::string>(), folder_) : json;
            if (json.is_object()) state["lockstep"] = 1;
            // A step shows what it names: what an earlier one has hidden comes back.
            if (!state.contains("hidden")) state["hidden"] = ordered_json::array();
            takeTexts(step, state);
            step.state = state.dump();
        });
        field(map, "wait", [&](const ordered_json&) {
            step.wait = conditionFromText(jsonValue<std::string>(fields, "wait"));
        });
        field(map, "try", [&](const ordered_json& json) {
            step.tries = texts(json, "try");
            for (const std::string& each : step.tries) checkTry(each);
        });
        if (fields.contains("ask")) readQuestion(step, map);
        for (const char* name : {"choices", "right", "value", "tolerance"})
            if (fields.contains(name) && !fields.contains("ask"))
                problems_.push_back({map.lineOf(name),
                                     fmt::format("'{}' belongs to a question, and there is no 'ask'", name)});
    }

    /// A step without words of its own has those of its state.
    static void takeTexts(LessonStep& step, ordered_json& state) {
        const Lesson own = lessonOfState(state);
        for (const char* name : {"title", "about", "task", "answer"}) state.erase(name);
        if (own.steps.empty() || step.text.find_first_not_of(" \n") != std::string::npos) return;
        step.text = own.steps.front().text;
        if (step.answer.empty()) step.answer = own.steps.front().answer;
    }

    /// A lesson presses and types what a learner would; it neither writes files nor goes on for ever.
    static void checkTry(const std::string& line) {
        constexpr std::string_view verbs[] = {"click", "try",   "rightclick", "hover", "drag", "dragto",
                                              "move",  "wheel", "type",       "await", "key"};
        const std::string verb = line.substr(0, line.find(' '));
        if (std::ranges::find(verbs, verb) == std::end(verbs))
            throwUnknownName("command of 'try'", verb, verbs);
        if (line.find_first_of("\r\n") != std::string::npos || line.find("Ctrl") != std::string::npos)
            throw std::invalid_argument("a command of 'try' is one line, and presses no key with Ctrl");
    }

    void readQuestion(LessonStep& step, const YamlMap& map) {
        const ordered_json& fields = map.fields;
        Question& question = step.ask.emplace();
        field(map, "ask",
              [&](const ordered_json&) { question.text = jsonValue<std::string>(fields, "ask"); });
        field(map, "choices", [&](const ordered_json& json) {
            if (!json.is_array() || json.size() < 2 || json.size() > 6)
                throw std::invalid_argument("'choices' must be a list of two to six");
            for (const auto& each : json) question.choices.push_back(choice(each));
        });
        field(map, "tolerance", [&](const ordered_json&) {
            question.tolerance = jsonValue<double>(fields, "tolerance");
            if (question.tolerance < 0) throw std::invalid_argument("'tolerance' must not be negative");
        });
        field(map, "value",
              [&](const ordered_json&) { question.value = jsonValue<std::string>(fields, "value"); });
        field(map, "right", [&](const ordered_json&) {
            if (question.choices.empty()) {
                question.number = jsonValue<double>(fields, "right");
                return;
            }
            const auto right = jsonValue<std::size_t>(fields, "right");
            if (right < 1 || right > question.choices.size())
                throw std::invalid_argument(
                    fmt::format("'right' must be a choice from 1 to {}", question.choices.size()));
            question.right = right - 1;
        });
        const bool measured =
            std::ranges::any_of(question.choices, [](const Choice& each) { return each.when.has_value(); });
        const bool answered = fields.contains("right");
        const std::size_t line = map.lineOf("ask");
        if (question.choices.empty() && answered == fields.contains("value"))
            problems_.push_back({line, "a number needs either 'right' or the name of a measured 'value'"});
        const auto conditional = [](const Choice& each) { return each.when.has_value(); };
        if (measured && !std::ranges::all_of(question.choices, conditional))
            problems_.push_back({line, "either all choices have a condition 'when', or none"});
        if (!question.choices.empty() && fields.contains("value"))
            problems_.push_back({line, "a question with choices asks for no 'value'"});
        if (!question.choices.empty() && answered == measured)
            problems_.push_back({line, "choices need either 'right: NUMBER' or conditions 'when'"});
    }

    static Choice choice(const ordered_json& json) {
        if (json.is_string()) return {json.get<std::string>(), std::nullopt};
        if (json.is_number()) return {json.dump(), std::nullopt};
        constexpr std::string_view known[] = {"text", "when"};
        if (json.is_object())
            for (const auto& [name, value] : json.items())
                if (std::ranges::find(known, name) == std::end(known))
                    throwUnknownName("field of a choice", name, known);
        Choice choice{jsonValue<std::string>(json, "text"), std::nullopt};
        if (json.contains("when")) choice.when = conditionFromText(jsonValue<std::string>(json, "when"));
        return choice;
    }

    Lines lines_;
    fs::path folder_; // of the file
    std::vector<LessonProblem>& problems_;
};

} // namespace

Lesson lessonOfState(const ordered_json& state) {
    Lesson lesson;
    std::map<std::string_view, std::string> texts;
    for (const char* name : {"title", "about", "task", "answer"}) {
        const auto found = state.find(name);
        if (found == state.end()) continue;
        if (!found->is_string())
            throw std::invalid_argument(fmt::format("the state's field '{}' must be a text", name));
        texts[name] = found->get<std::string>();
        if (texts[name].size() > longestText)
            throw std::invalid_argument(
                fmt::format("the state's field '{}' is longer than {} bytes", name, longestText));
    }
    if (std::ranges::all_of(texts, [](const auto& text) { return text.second.empty(); })) return lesson;
    lesson.title = texts["title"];
    LessonStep& step = lesson.steps.emplace_back();
    step.title = lesson.title;
    step.text = texts["about"] + "\n\n" + texts["task"];
    step.answer = texts["answer"];
    for (const std::string* text : {&step.text, &step.answer}) try { // it is Markdown, drawn in every frame
            markdownBlocks(*text);
            quotedNames(*text);
        } catch (const std::exception& error) {
            throw std::invalid_argument(fmt::format("the state's texts: {}", error.what()));
        }
    return lesson;
}

Lesson lessonFromText(std::string_view text, const std::filesystem::path& file,
                      std::vector<LessonProblem>& problems) {
    Lesson lesson;
    lesson.file = file;
    lesson.name = file.stem().string();
    if (findInvalidUtf8(lesson.name) != std::string_view::npos) {
        problems.push_back({0, "the file's name is not UTF-8"});
        return lesson;
    }
    if (const std::size_t at = findInvalidUtf8(text); at != std::string_view::npos) {
        const auto line = static_cast<std::size_t>(std::ranges::count(text.substr(0, at), '\n')) + 1;
        problems.push_back({line, "not UTF-8"});
        return lesson;
    }
    if (constexpr std::string_view mark = "\xEF\xBB\xBF"; text.starts_with(mark))
        text.remove_prefix(mark.size());
    std::vector<std::string_view> lines = linesOf(text);
    for (std::string_view& line : lines)
        if (line.ends_with('\r')) line.remove_suffix(1);
    Reader(lines, file.parent_path(), problems).read(lesson);
    std::ranges::stable_sort(problems, {}, &LessonProblem::line);
    return lesson;
}

Lesson readLesson(const std::filesystem::path& file, std::vector<LessonProblem>& problems) {
    const std::vector<std::byte> bytes = readFileBytes(file, largestLesson);
    return lessonFromText(asText(bytes), file, problems);
}

Lesson readLesson(const std::filesystem::path& file) {
    std::vector<LessonProblem> problems;
    Lesson lesson = readLesson(file, problems);
    if (!problems.empty()) throw std::invalid_argument(describe(file, problems.front()));
    return lesson;
}

std::string describe(const std::filesystem::path& file, const LessonProblem& problem) {
    const std::string name = file.filename().string();
    return problem.line == 0 ? fmt::format("{}: {}", name, problem.text)
                             : fmt::format("{}, line {}: {}", name, problem.line, problem.text);
}

} // namespace lockstep::demos
