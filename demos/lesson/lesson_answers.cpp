#include "demos/lesson/lesson_answers.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/words/text.h"
#include "engine/files/atomic_file.h"
#include "engine/files/json_field.h"
#include "engine/files/json_text.h"

namespace lockstep::demos {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

constexpr const char* sheetMark = "lockstep_answers"; // the field that tells these files from others
constexpr std::uint64_t largestSheet = 1u << 18;
constexpr std::size_t mostSheets = 10'000;
constexpr std::size_t mostAnswers = 100;
constexpr std::size_t longestField = 2000; // bytes

constexpr std::string_view verdictWords[] = {"none", "open", "right", "wrong"}; // by AnswerVerdict
constexpr std::string_view verdictSigns[] = {"-", "?", "right", "wrong"};

std::string answerText(const Question& question, const LessonAnswer& answer) {
    if (answer.choice) return question.choices[*answer.choice].text;
    if (answer.number) return fmt::format("{:.6g}", *answer.number);
    if (answer.sketch)
        return *answer.sketch == 0 ? "a sketch" : fmt::format("a sketch, off by {:.2g}", *answer.sketch);
    return {};
}

/// Of a name, what every file system takes.
std::string fileWord(std::string_view name) {
    std::string word;
    for (const char letter : cut(name, 40))
        word +=
            static_cast<unsigned char>(letter) < 128 && std::isalnum(static_cast<unsigned char>(letter)) == 0
                ? '-'
                : letter;
    return word;
}

/// Files come from a whole class: what a terminal would obey is left out.
std::string plainField(const ordered_json& json, const char* name) {
    std::string text = jsonValue<std::string>(json, name);
    if (text.size() > longestField)
        throw std::invalid_argument(fmt::format("the field '{}' is too long", name));
    text = withoutControls(text);
    std::erase_if(text, [](char letter) { return letter == '\n' || letter == '\t'; });
    return text;
}

/// A spreadsheet must not take a text for a formula.
std::string cellText(const std::string& text) {
    const bool formula =
        !text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos;
    return csvField(formula ? "'" + text : text);
}

AnswerSheet sheetFrom(const ordered_json& json) {
    AnswerSheet sheet{.learner = plainField(json, "learner"),
                      .lesson = plainField(json, "lesson"),
                      .date = plainField(json, "date"),
                      .machine = plainField(json, "machine"),
                      .answers = {}};
    const ordered_json& answers = jsonField(json, "answers");
    if (!answers.is_array() || answers.size() > mostAnswers)
        throw std::invalid_argument("the field 'answers' must be a list");
    for (const ordered_json& each : answers)
        sheet.answers.push_back({plainField(each, "step"), plainField(each, "question"),
                                 plainField(each, "answer"),
                                 static_cast<AnswerVerdict>(jsonWord(each, "verdict", verdictWords))});
    return sheet;
}

/// Sheets of one lesson.
using Class = std::span<const AnswerSheet>;

std::vector<Class> classesOf(Class sheets) {
    std::vector<Class> classes;
    while (!sheets.empty()) {
        std::size_t count = 1;
        while (count < sheets.size() && sheets[count].lesson == sheets.front().lesson) ++count;
        classes.push_back(sheets.first(count));
        sheets = sheets.subspan(count);
    }
    return classes;
}

/// The questions of all sheets, by the titles of their steps, in the order of the first sheet that has them.
std::vector<SheetAnswer> questionsOf(Class sheets) {
    std::vector<SheetAnswer> questions;
    for (const AnswerSheet& sheet : sheets)
        for (const SheetAnswer& each : sheet.answers)
            if (std::ranges::find(questions, each.step, &SheetAnswer::step) == questions.end())
                questions.push_back(each);
    return questions;
}

const SheetAnswer* find(const AnswerSheet& sheet, const SheetAnswer& question) {
    const auto found = std::ranges::find(sheet.answers, question.step, &SheetAnswer::step);
    return found == sheet.answers.end() ? nullptr : &*found;
}

/// "3 of 4 right; most often wrong: The CPU (1)"
std::string questionResult(Class sheets, const SheetAnswer& question) {
    std::size_t given = 0, right = 0;
    std::map<std::string, std::size_t> wrong;
    for (const AnswerSheet& sheet : sheets) {
        const SheetAnswer* answer = find(sheet, question);
        if (answer == nullptr || answer->answer.empty()) continue;
        ++given;
        if (answer->verdict == AnswerVerdict::right) ++right;
        if (answer->verdict == AnswerVerdict::wrong) ++wrong[answer->answer];
    }
    std::string text = fmt::format("{} of {} right", right, given);
    const auto most = std::ranges::max_element(wrong, {}, [](const auto& entry) { return entry.second; });
    if (most != wrong.end()) text += fmt::format("; most often wrong: {} ({})", most->first, most->second);
    return text;
}

} // namespace

std::size_t AnswerSheet::right() const {
    return static_cast<std::size_t>(std::ranges::count(answers, AnswerVerdict::right, &SheetAnswer::verdict));
}

AnswerSheet answerSheet(const LessonRun& run, const MeasuredValues& values, const std::string& learner) {
    AnswerSheet sheet{
        .learner = learner,
        .lesson = run.lesson().title,
        .date = fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(std::time(nullptr))),
        .machine = fmt::format("{}, {}", valueText(values, "machine.cpu"), valueText(values, "machine.gpu")),
        .answers = {}};
    for (std::size_t i = 0; i < run.lesson().steps.size(); ++i) {
        const LessonStep& step = run.lesson().steps[i];
        if (!step.ask) continue;
        const LessonAnswer& answer = run.answers()[i];
        sheet.answers.push_back(
            {step.title, filledText(step.ask->text, values), answerText(*step.ask, answer), run.verdict(i)});
    }
    return sheet;
}

fs::path writeAnswerSheet(const AnswerSheet& sheet, const fs::path& folder) {
    ordered_json json{{sheetMark, 1},       {"learner", sheet.learner}, {"lesson", sheet.lesson},
                      {"date", sheet.date}, {"machine", sheet.machine}, {"answers", ordered_json::array()}};
    for (const SheetAnswer& each : sheet.answers)
        json["answers"].push_back({{"step", each.step},
                                   {"question", each.question},
                                   {"answer", each.answer},
                                   {"verdict", verdictWords[static_cast<std::size_t>(each.verdict)]}});
    const fs::path file = folder / fmt::format("answers-{}-{:%Y%m%d-%H%M%S}.json", fileWord(sheet.learner),
                                               fmt::localtime(std::time(nullptr)));
    writeFileAtomically(file, json.dump(1) + "\n");
    return file;
}

std::vector<AnswerSheet> readAnswerSheets(const fs::path& folder, std::vector<std::string>& problems) {
    std::error_code failure;
    std::vector<fs::path> files;
    for (fs::directory_iterator entry(folder, failure); !failure && entry != fs::directory_iterator();
         entry.increment(failure))
        if (entry->path().extension() == ".json" && files.size() < mostSheets) files.push_back(entry->path());
    if (failure)
        throw std::runtime_error(
            fmt::format("cannot read the folder '{}': {}", folder.string(), failure.message()));
    std::ranges::sort(files);
    std::map<std::pair<std::string, std::string>, AnswerSheet> latest; // by lesson and learner
    for (const fs::path& file : files) try {
            const ordered_json json = readJsonFile(file, largestSheet);
            if (!json.is_object() || !json.contains(sheetMark)) continue;
            AnswerSheet sheet = sheetFrom(json);
            AnswerSheet& kept = latest[{sheet.lesson, sheet.learner}];
            if (sheet.date >= kept.date) kept = std::move(sheet);
        } catch (const std::exception& error) {
            const std::string text = withoutControls(error.what());
            const std::string name = withoutControls(file.filename().string());
            problems.push_back(text.find(name) == std::string::npos ? name + ": " + text : text);
        }
    std::vector<AnswerSheet> sheets;
    sheets.reserve(latest.size());
    for (auto& entry : latest) sheets.push_back(std::move(entry.second));
    return sheets;
}

std::string resultsText(Class sheets) {
    std::string text;
    for (const Class& learners : classesOf(sheets)) {
        const std::vector<SheetAnswer> questions = questionsOf(learners);
        text += fmt::format("{}{}\n\n", text.empty() ? "" : "\n", learners.front().lesson);
        std::vector<std::vector<std::string>> rows;
        std::vector<std::string>& header = rows.emplace_back();
        header.emplace_back("learner");
        for (std::size_t i = 0; i < questions.size(); ++i) header.push_back(fmt::format("Q{}", i + 1));
        header.emplace_back("right");
        for (const AnswerSheet& sheet : learners) {
            std::vector<std::string>& row = rows.emplace_back();
            row.push_back(sheet.learner);
            for (const SheetAnswer& question : questions) {
                const SheetAnswer* answer = find(sheet, question);
                row.emplace_back(
                    verdictSigns[answer == nullptr ? 0 : static_cast<std::size_t>(answer->verdict)]);
            }
            row.push_back(fmt::format("{} of {}", sheet.right(), questions.size()));
        }
        text += table(rows, questions.size() + 1) + "\n";
        for (std::size_t i = 0; i < questions.size(); ++i)
            text += fmt::format("Q{}  {}: {}\n    {}\n", i + 1, questions[i].step, questions[i].question,
                                questionResult(learners, questions[i]));
    }
    return text;
}

std::string resultsCsv(Class sheets) {
    std::string text = "lesson,learner,date,machine,step,question,answer,verdict\n";
    for (const AnswerSheet& sheet : sheets)
        for (const SheetAnswer& each : sheet.answers) {
            const auto word = verdictWords[static_cast<std::size_t>(each.verdict)];
            for (const std::string& field : {sheet.lesson, sheet.learner, sheet.date, sheet.machine,
                                             each.step, each.question, each.answer})
                text += cellText(field) + ",";
            text += std::string(word) + "\n";
        }
    return text;
}

} // namespace lockstep::demos
