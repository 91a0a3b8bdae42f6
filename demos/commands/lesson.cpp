// `lockstep lesson`: lessons without a window.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "demos/commands/command.h"
#include "demos/lesson/lesson_desk.h"
#include "demos/lesson/lesson_file.h"
#include "demos/lesson/lesson_text.h"
#include "demos/options/parse.h"
#include "demos/shell/lesson_check.h"
#include "demos/shell/run_window.h"
#include "demos/words/text.h"
#include "engine/net/names.h"

namespace lockstep::demos {

namespace {

constexpr const char* lessonAbout =
    R"(Lessons lead through the exhibits: they set them up, ask, wait for a measurement and quote it. They are Markdown files,
which docs/lessons.md describes. Your own go into the folder "lessons" beside the stored state, or are named with their path.)";

constexpr const char* lessonExamples = R"(examples:
  lockstep lesson                          the list
  lockstep lesson show what-is-a-gpu       its text
  lockstep lesson run what-is-a-gpu        does what it asks for, without a window, and prints what was measured
  lockstep lesson check my-lesson.md       everything that is wrong with a file
  lockstep show my-lesson.md               the lesson in the window
)";

struct LessonOptions {
    std::string action = "list";
    std::vector<std::string> names;
    std::string device;
};

/// A lesson of the list, or a file.
std::filesystem::path fileOf(const std::string& name) {
    return std::filesystem::path(name).extension() == ".md" ? std::filesystem::path(name) : lessonFile(name);
}

int listLessons() {
    std::vector<std::vector<std::string>> rows;
    for (const LessonEntry& entry : findLessons())
        rows.push_back({entry.name, entry.title,
                        entry.problem.empty() ? counted(entry.minutes, "minute") : entry.problem});
    fmt::print("{}", table(rows, 3));
    return 0;
}

int show(const std::string& name) {
    const Lesson lesson = readLesson(fileOf(name));
    fmt::print("{}\n{}\n\n", lesson.title, wrapped(lesson.about, 90));
    LessonRun run(lesson);
    do {
        fmt::print("{}", stepText(run, {}));
    } while (run.go(run.at() + 1));
    for (const std::string& source : lesson.sources) fmt::print("Source: {}\n", source);
    return 0;
}

int runOne(const std::string& name, const std::string& device) {
    const std::filesystem::path file = fileOf(name);
    const Lesson lesson = readLesson(file);
    ShowOptions options;
    options.stateFile = file;
    options.device = device;
    options.answersOnly = true;
    for (const LessonStep& step : lesson.steps) {
        for (const std::string& line : step.tries) options.commands += line + "\n";
        options.commands += "await\ntell\nkey PageDown\n";
    }
    return runHeadless(options);
}

int check(const std::vector<std::string>& names, const std::string& device) {
    std::size_t problems = 0;
    for (const std::string& name : names) {
        const std::filesystem::path file = fileOf(name);
        for (const LessonProblem& problem : checkLesson(file, device)) {
            fmt::print("{}\n", describe(file, problem));
            ++problems;
        }
    }
    if (problems == 0) fmt::print("{}: nothing is wrong\n", counted(names.size(), "lesson"));
    return problems == 0 ? 0 : 1;
}

int lesson(const LessonOptions& options) {
    constexpr std::string_view actions[] = {"list", "show", "run", "check"};
    if (std::ranges::find(actions, options.action) == std::end(actions))
        throwUnknownName("action of 'lesson'", options.action, actions);
    if (options.action == "list") return listLessons();
    if (options.names.empty())
        throw std::invalid_argument(
            fmt::format("'lesson {}' needs the name of a lesson, or a file", options.action));
    if (options.action == "check") return check(options.names, options.device);
    for (const std::string& name : options.names)
        if (const int code = options.action == "show" ? show(name) : runOne(name, options.device); code != 0)
            return code;
    return 0;
}

} // namespace

Action addLesson(CLI::App& command) {
    const auto options = std::make_shared<LessonOptions>();
    addManual(command, lessonAbout, lessonExamples);
    addValue(command, "action", "ACTION", options->action, "list, show, run or check");
    command.add_option("names", options->names, "lessons of the list, or files")->type_name("NAME...");
    addValue(command, "--device", "DEVICE", options->device,
             "Vulkan device: number, part of its name, or UUID");
    return [options] { return lesson(*options); };
}

} // namespace lockstep::demos
