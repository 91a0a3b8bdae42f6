#include "demos/shell/lesson_check.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/kit/source_text.h"
#include "demos/lesson/lesson_desk.h"
#include "demos/lesson/lesson_file.h"
#include "demos/shell/program.h"
#include "demos/telling/measured_text.h"
#include "engine/files/atomic_file.h"
#include "engine/net/names.h"

namespace lockstep::demos {

namespace {

using nlohmann::ordered_json;

constexpr std::string_view experimentPrefix = "lab.";

/// What the lesson defines itself.
std::set<std::string> ownValues(const Lesson& lesson) {
    std::set<std::string> names;
    for (const LessonFormula& formula : lesson.formulas) names.insert(formula.name);
    for (const LessonStep& step : lesson.steps)
        for (const LessonInput& input : step.inputs) names.insert(input.name);
    return names;
}

template <class Action> void noted(std::vector<LessonProblem>& problems, std::size_t line, Action action) {
    try {
        action();
    } catch (const std::exception& error) {
        problems.push_back({line, error.what()});
    }
}

void checkLinks(const Lesson& lesson, std::vector<LessonProblem>& problems) {
    for (const LessonStep& step : lesson.steps)
        for (const std::string* text : {&step.text, &step.answer, &step.notes})
            for (const TextBlock& block : markdownBlocks(*text))
                for (const TextSpan& span : block.spans) {
                    if (span.link.empty()) continue;
                    const char* field = text == &step.answer ? "answer" : text == &step.notes ? "notes" : "";
                    // An answer may be that of the step's state.
                    const std::size_t line = step.lines.contains(field) ? step.lines.at(field) : step.line;
                    if (span.link.ends_with(".md"))
                        noted(problems, line, [&] { linkedLesson(lesson, span.link); });
                    else if (!span.link.starts_with("https://") && !span.link.starts_with("http://"))
                        problems.push_back(
                            {line,
                             fmt::format("the link '{}' must be https://... or a lesson's file, NAME.md",
                                         span.link)});
                }
}

/// Lessons that come before this one must exist, and must not need it themselves.
void checkNeeds(const Lesson& lesson, std::vector<LessonProblem>& problems) {
    std::set<std::string> seen;
    std::vector<std::string> left = lesson.needs;
    while (!left.empty()) {
        const std::string name = left.back();
        left.pop_back();
        if (name == lesson.name) {
            problems.push_back({lesson.lines.at("needs"), "this lesson needs itself, through 'needs'"});
            return;
        }
        if (!seen.insert(name).second) continue;
        noted(problems, lesson.lines.at("needs"), [&] {
            const Lesson needed = readLesson(linkedLesson(lesson, name + ".md"));
            left.insert(left.end(), needed.needs.begin(), needed.needs.end());
        });
    }
}

class Check {
  public:
    Check(const ShowOptions& options, std::vector<LessonProblem>& problems)
        : program_(options, drawingOptions(options)), app_(program_.app), problems_(problems) {
        app_.ui().scripted = true;
        app_.fixLanguage(spokenLanguage());
        app_.ui().masked = true; // experiments are measured roughly
    }

    void run(const Lesson& lesson) {
        known_ = ownValues(lesson);
        for (const LessonStep& step : lesson.steps) tryStep(step);
        for (const auto& [name, where, line] : usedValues(lesson)) {
            std::string measured = name;
            if (const std::string step = takeStep(measured); !step.empty() && !waits(lesson, step))
                problems_.push_back(
                    {line, fmt::format("'{}:' must be the number of a step that waits for something", step)});
            if (!known_.contains(measured) && !namedInSource(measured) && !measuredNow(measured))
                problems_.push_back(
                    {line, fmt::format("nothing measures '{}'{}", measured, rightValues(measured))});
        }
    }

  private:
    /// "1" of "1:race.ratio", which loses it.
    static std::string takeStep(std::string& name) {
        const std::size_t digits = name.find_first_not_of("0123456789");
        if (digits == 0 || digits == std::string::npos || name[digits] != ':') return {};
        std::string step = name.substr(0, digits);
        name.erase(0, digits + 1);
        return step;
    }
    static bool waits(const Lesson& lesson, const std::string& step) {
        const std::size_t index = step.size() > 3 ? 0 : std::stoul(step);
        return index >= 1 && index <= lesson.steps.size() && lesson.steps[index - 1].wait;
    }

    void tryStep(const LessonStep& step) {
        try {
            if (!step.state.empty()) app_.setState(ordered_json::parse(step.state));
        } catch (const std::exception& error) {
            problems_.push_back({step.lines.at("state"), error.what()});
            return;
        }
        frames(3);
        note();
        if (!step.point.empty() && !app_.ui().controls.contains(step.point))
            problems_.push_back(
                {step.lines.at("point"),
                 fmt::format("no control is called '{}' here{}", step.point, nearestControl(step.point))});
    }

    void frames(int count) {
        const WritesRefused refused("a lesson that is checked saves nothing");
        for (int i = 0; i < count; ++i) app_.frame(1280, 800, 1, 1.0 / 60);
    }

    void note() {
        for (const auto& [name, value] : app_.measured()) known_.insert(name);
    }

    /// Some numbers of an experiment are there only where a quiet machine, or a GPU, has measured them. Its
    /// source ends each of their names in a text of at least four letters: numbers[machine + "_gain"].
    static bool namedInSource(const std::string& name) {
        const std::size_t dot = name.find('.', experimentPrefix.size());
        if (!name.starts_with(experimentPrefix) || dot == std::string::npos) return false;
        std::string file = name.substr(experimentPrefix.size(), dot - experimentPrefix.size());
        std::ranges::replace(file, '-', '_');
        const std::string number = name.substr(dot + 1);
        std::string_view text = sourceText(file + ".cpp");
        constexpr std::size_t shortest = 4;
        while (true) {
            const std::size_t open = text.find('"');
            const std::size_t close = text.find('"', open + 1);
            if (open == std::string_view::npos || close == std::string_view::npos) return false;
            std::string_view literal = text.substr(open + 1, close - open - 1);
            literal.remove_prefix(literal.rfind('}') + 1); // what a format fills in
            if (literal.size() >= shortest && number.ends_with(literal)) return true;
            text.remove_prefix(open + 1); // quotes stand in comments, too: every pair of neighbours is tried
        }
    }

    /// An experiment knows the names of the others once it was measured; they help to find a misspelt one.
    bool measuredNow(const std::string& name) {
        const std::size_t dot = name.find('.', experimentPrefix.size());
        if (!name.starts_with(experimentPrefix) || dot == std::string::npos) return false;
        const std::string experiment = name.substr(experimentPrefix.size(), dot - experimentPrefix.size());
        if (!known_.contains(fmt::format("lab.{}.finished", experiment)) || !tried_.insert(experiment).second)
            return false;
        app_.setState({{"lockstep", 1},
                       {"exhibit", "parallelism"},
                       {"exhibits", {{"parallelism", {{"experiment", experiment}}}}}});
        app_.exhibit().run(app_.ui());
        frames(2);
        note();
        return known_.contains(name);
    }

    /// "; did you mean 'Run'?"
    std::string nearestControl(const std::string& name) const {
        std::vector<std::string_view> known;
        for (const auto& control : app_.ui().controls) known.push_back(control.first);
        const std::string_view near = nearestName(name, known);
        return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
    }

    /// The right names in place of the first part of `name` that is wrong: of an exhibit, of an experiment,
    /// or of one of its values.
    std::string rightValues(const std::string& name) const {
        std::size_t right = 0; // so many letters of it begin a known name, and end in a dot
        for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
            const std::string_view begin = std::string_view(name).substr(0, dot + 1);
            if (std::ranges::any_of(known_,
                                    [&](const std::string& known) { return known.starts_with(begin); }))
                right = dot + 1;
        }
        const std::string_view begin = std::string_view(name).substr(0, right);
        const bool last = name.find('.', right) == std::string::npos;
        std::set<std::string_view> parts; // whole values, or what they begin with
        for (const std::string& known : known_)
            if (known.starts_with(begin))
                parts.insert(std::string_view(known).substr(0, last && right > 0 ? std::string::npos
                                                                                 : known.find('.', right)));
        const std::string_view wrong =
            std::string_view(name).substr(0, last ? std::string::npos : name.find('.', right));
        return rightNames(wrong, std::vector<std::string_view>(parts.begin(), parts.end()));
    }

    Program program_;
    App& app_;
    std::vector<LessonProblem>& problems_;
    std::set<std::string> known_;
    std::set<std::string> tried_; // experiments
};

} // namespace

std::vector<LessonProblem> checkLesson(const std::filesystem::path& file, const std::string& device) {
    std::vector<LessonProblem> problems;
    const Lesson lesson = readLesson(file, problems);
    if (!problems.empty()) return problems;
    ShowOptions options;
    options.device = device;
    checkLinks(lesson, problems);
    checkNeeds(lesson, problems);
    Check(options, problems).run(lesson);
    std::ranges::stable_sort(problems, {}, &LessonProblem::line);
    return problems;
}

} // namespace lockstep::demos
