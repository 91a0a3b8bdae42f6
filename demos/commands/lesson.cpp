// `lockstep lesson`: lessons without a window.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "demos/commands/command.h"
#include "demos/commands/lesson_notes.h"
#include "demos/lesson/class_results.h"
#include "demos/lesson/languages.h"
#include "demos/lesson/lesson_desk.h"
#include "demos/lesson/lesson_file.h"
#include "demos/lesson/lesson_html.h"
#include "demos/lesson/lesson_text.h"
#include "demos/options/parse.h"
#include "demos/report/result_files.h"
#include "demos/shell/lesson_check.h"
#include "demos/shell/run_window.h"
#include "demos/shell/script_lines.h"
#include "demos/shell/state_file.h"
#include "demos/words/html.h"
#include "demos/words/streams.h"
#include "demos/words/text.h"
#include "engine/files/atomic_file.h"
#include "engine/net/names.h"
#include "engine/platform/file.h"

namespace lockstep::demos {

namespace {

constexpr const char* lessonAbout =
    R"(Lessons lead through the exhibits: they set them up, ask, wait for a measurement and quote it. They are Markdown files,
which docs/lessons.md describes. Your own go into the folder "lessons" beside the stored state, or are named with their path.)";

constexpr const char* lessonExamples = R"(examples:
  lockstep lesson                          the list, and how far you have come in each
  lockstep lesson show what-is-a-gpu       its text
  lockstep lesson run what-is-a-gpu        does what it asks for, without a window, and prints what was measured
  lockstep lesson print what-is-a-gpu --html handout.html
  lockstep lesson show what-is-a-gpu --language de
  lockstep lesson check my-lesson.md       everything that is wrong with a file
  lockstep show my-lesson.md               the lesson in the window
  lockstep lesson notes                    a teacher's notes, in a terminal that follows the window
  lockstep lesson results FOLDER           the table of a class, from its answer files
)";

struct LessonOptions {
    std::string action = "list";
    std::vector<std::string> names;
    std::string device;
    std::string language;
    bool quick = false;
    std::string htmlFile;
    std::string csvFile;
    bool answers = false;
};

/// A lesson of the list, or a file.
std::filesystem::path fileOf(const std::string& name) {
    return std::filesystem::path(name).extension() == ".md" ? std::filesystem::path(name) : lessonFile(name);
}

int listLessons() {
    LessonDesk desk; // as the window keeps it
    if (const std::filesystem::path progress = lessonProgressFile(); !progress.empty()) desk.keepIn(progress);
    std::vector<std::vector<std::string>> rows;
    for (const LessonEntry& entry : desk.list())
        rows.push_back({entry.name, entry.title,
                        entry.problem.empty() ? minutesText(entry.minutes) : entry.problem,
                        progressText(entry, desk)});
    // In columns, the groups' names between them.
    const std::string columns = table(rows, 4);
    std::string_view rest = columns;
    std::string group;
    for (const LessonEntry& entry : desk.list()) {
        if (entry.group != group) printOut("{}{}\n", group.empty() ? "" : "\n", translated(entry.group));
        group = entry.group;
        const std::size_t end = rest.find('\n');
        printOut("{}\n", rest.substr(0, end));
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    if (const std::string all = progressText(desk.list(), desk); !all.empty()) printOut("\n{}\n", all);
    return 0;
}

int show(const std::string& name) {
    const Lesson lesson = readLesson(fileOf(name));
    printOut("{}\n{}\n\n", lesson.title, wrapped(lesson.about, 90));
    LessonRun run(lesson);
    do {
        printOut("{}", stepText(run, blanksOf(lesson)));
    } while (run.go(run.at() + 1));
    for (const std::string& source : lesson.sources) printOut("{}\n", translatedFormat("Source: {}", source));
    return 0;
}

ShowOptions inLesson(const std::filesystem::path& file, const LessonOptions& wanted) {
    ShowOptions options;
    options.stateFile = file;
    options.device = wanted.device;
    options.language = wanted.language;
    options.masked = wanted.quick; // experiments are measured roughly then
    options.answersOnly = true;
    options.savesNothing = true;
    options.still = true;
    options.light = true; // ink is dear; without pictures it changes nothing
    return options;
}

/// Adds a script's lines; messages about them name a line of the lesson.
void addLines(ShowOptions& options, const std::filesystem::path& file, std::string_view script,
              std::size_t line) {
    for (ScriptLine& each : scriptFromText(script, file.string())) {
        each.number = line;
        options.commands.push_back(std::move(each));
    }
}

/// Does what the lesson asks for.
///   after   script lines for each step, once it is done
ShowOptions doing(const std::filesystem::path& file, const LessonOptions& wanted, const std::string& after) {
    ShowOptions options = inLesson(file, wanted);
    for (const LessonStep& step : readLesson(file).steps) {
        for (const std::string& line : step.tries)
            addLines(options, file, line, step.lines.contains("try") ? step.lines.at("try") : step.line);
        addLines(options, file, "await\n" + after + "tell\nkey PageDown\n", step.line);
    }
    return options;
}

/// Looks at each step as a learner finds it. Nothing is done: what an earlier step measures, and the exhibit
/// explains then, would be its answer.
ShowOptions lookingAt(const std::filesystem::path& file, const LessonOptions& wanted,
                      const std::string& each) {
    ShowOptions options = inLesson(file, wanted);
    for (const LessonStep& step : readLesson(file).steps)
        addLines(options, file, each + "tell\nkey PageDown\n", step.line);
    return options;
}

/// Beside no file of the reader's, and gone in the end whatever happens.
struct PictureFile {
    std::filesystem::path path = std::filesystem::temp_directory_path() /
                                 fmt::format("lockstep-print-{}.png", platform::processNumber());
    PictureFile() = default;
    PictureFile(const PictureFile&) = delete;
    PictureFile& operator=(const PictureFile&) = delete;
    ~PictureFile() {
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
    }
};

int print(const std::string& name, const LessonOptions& wanted) {
    if (wanted.htmlFile.empty()) throw std::invalid_argument("'lesson print' needs --html FILE");
    const std::filesystem::path file = fileOf(name);
    if (!isStandardOutput(wanted.htmlFile)) {
        requireSeparateFiles({{"--html", wanted.htmlFile}}, {{"the lesson", file.string()}});
        requireWritable(wanted.htmlFile);
    }
    const PictureFile temporary;
    const std::filesystem::path& picture = temporary.path; // of one step after the other
    const std::string draw = fmt::format("picture {} exhibit\n", picture.string());
    // A class sees what it starts from, the teacher what comes of it.
    ShowOptions options = wanted.answers ? doing(file, wanted, draw) : lookingAt(file, wanted, draw);
    std::string steps = headerHtml(readLesson(file), wanted.answers);
    options.teller = [&](const LessonRun& run, const MeasuredValues& values) {
        steps += stepHtml(run, values, picture, wanted.answers);
    };
    if (const int code = runHeadless(options); code != 0) return code;
    const Lesson lesson = readLesson(file);
    if (!wanted.answers) steps += endingHtml(lesson);
    for (const std::string& source : lesson.sources)
        steps += fmt::format("<p><small>{}</small></p>\n", translatedFormat("Source: {}", htmlText(source)));
    writeResult(wanted.htmlFile, htmlPage(lesson.title, steps));
    return 0;
}

int check(const std::vector<std::string>& names, const std::string& device) {
    std::size_t problems = 0;
    for (const std::string& name : names) {
        const std::filesystem::path file = fileOf(name);
        for (const LessonProblem& problem : checkLesson(file, device)) {
            printOut("{}\n", describe(file, problem));
            ++problems;
        }
    }
    if (problems == 0) printOut("{}: nothing is wrong\n", counted(names.size(), "lesson"));
    return problems == 0 ? 0 : 1;
}

int results(const std::string& folder, const LessonOptions& options) {
    std::vector<std::string> problems;
    const std::vector<AnswerSheet> sheets = readAnswerSheets(folder, problems);
    for (const std::string& problem : problems) printError("warning: {}\n", problem);
    if (sheets.empty()) throw std::runtime_error(fmt::format("there are no answer files in '{}'", folder));
    printTo(isStandardOutput(options.csvFile) || isStandardOutput(options.htmlFile) ? stderr : stdout, "{}",
            resultsText(sheets));
    writeResult(options.csvFile, resultsCsv(sheets));
    if (!options.htmlFile.empty()) writeResult(options.htmlFile, resultsHtml(sheets));
    return 0;
}

int lesson(const LessonOptions& options) {
    constexpr std::string_view actions[] = {"list", "show", "run", "check", "print", "notes", "results"};
    if (std::ranges::find(actions, options.action) == std::end(actions))
        throwUnknownName("action of 'lesson'", options.action, actions);
    if (!options.language.empty())
        for (const std::string& problem : chooseLanguage(options.language))
            printError("warning: {}\n", problem);
    if (options.action == "list") return listLessons();
    if (options.action == "notes" && options.names.empty()) return followNotes();
    if (options.names.empty())
        throw std::invalid_argument(fmt::format("'lesson {}' needs {}", options.action,
                                                options.action == "results"
                                                    ? "the folder with the answer files"
                                                    : "the name of a lesson, or a file"));
    if (options.action == "check") return check(options.names, options.device);
    if (options.names.size() != 1) throw std::invalid_argument("one lesson at a time");
    const std::string& name = options.names.front();
    if (options.action == "show") return show(name);
    if (options.action == "print") return print(name, options);
    if (options.action == "notes") return printNotes(fileOf(name));
    if (options.action == "results") return results(name, options);
    return runHeadless(doing(fileOf(name), options, ""));
}

} // namespace

Action addLesson(CLI::App& command) {
    const auto options = std::make_shared<LessonOptions>();
    addManual(command, lessonAbout, lessonExamples);
    addValue(command, "action", "ACTION", options->action, "list, show, run, check, print, notes or results");
    command.add_option("names", options->names, "lessons of the list, or files; with results: a folder")
        ->type_name("NAME...");
    addValue(command, "--html", "FILE", options->htmlFile,
             "with print: the handout; with results: a page with plots of what was measured; - for\nstandard "
             "output");
    addValue(command, "--csv", "FILE", options->csvFile,
             "with results: the table for a spreadsheet; - for standard output");
    command.add_flag("--answers", options->answers,
                     "with print: the teacher's copy, with results and answers");
    command.add_flag("--quick", options->quick,
                     "with run and print: measure experiments roughly, to try the lesson");
    addValue(command, "--language", "CODE", options->language, "of the lessons and the window, such as de");
    addValue(command, "--device", "DEVICE", options->device,
             "Vulkan device: number, part of its name, or UUID");
    return [options] { return lesson(*options); };
}

} // namespace lockstep::demos
