#include "demos/lesson/lesson_answers.h"

#include <cctype>
#include <cmath>
#include <ctime>
#include <map>
#include <string_view>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/lesson/lesson_text.h"
#include "demos/telling/measured_text.h"
#include "demos/words/language.h"
#include "demos/words/text.h"
#include "engine/files/atomic_file.h"

namespace lockstep::demos {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t longestLearner = 100; // characters; a sheet's fields hold them all
constexpr std::size_t longestAnswer = 400;
constexpr std::size_t mostValuesKept = 400;

SheetAnswer answerOf(const Question& question, const LessonAnswer& answer, AnswerVerdict verdict) {
    SheetAnswer kept{.text = {}, .choice = 0, .verdict = verdict};
    if (answer.choice) {
        kept.text = cut(question.choices[*answer.choice].text, longestAnswer);
        kept.choice = *answer.choice + 1;
    }
    if (answer.number) kept.text = fmt::format("{:.6g}", *answer.number);
    if (answer.sketch)
        kept.text = *answer.sketch == 0 ? "a sketch" : fmt::format("a sketch, off by {:.2g}", *answer.sketch);
    return kept;
}

/// What every file system takes of a name.
std::string fileWord(std::string_view name) {
    std::string word;
    for (const char letter : cut(name, 40))
        word +=
            static_cast<unsigned char>(letter) < 128 && std::isalnum(static_cast<unsigned char>(letter)) == 0
                ? '-'
                : letter;
    return word;
}

/// What steps have measured and the lesson speaks of, but for what it defines itself and the machine's names.
std::vector<SheetValue> measuredIn(const LessonRun& run) {
    std::map<std::string, SheetValue> values; // in order
    for (const UsedValue& used : usedValues(run.lesson())) {
        const std::size_t colon = used.name.find_first_not_of("0123456789");
        const bool ofStep = colon > 0 && colon != std::string::npos && used.name[colon] == ':';
        const std::string base = ofStep ? used.name.substr(colon + 1) : used.name;
        const std::string name = ofStep ? used.name : fmt::format("{}:{}", used.step + 1, used.name);
        const auto kept = run.kept().find(name);
        if (kept == run.kept().end() || base.starts_with("my.") || base.starts_with("machine.")) continue;
        SheetValue& value = values[name];
        const std::string before = std::move(value.title); // a name may be quoted in several places
        const bool inStep = used.step < run.lesson().steps.size();
        value = {.name = name,
                 .title = before.empty() && inStep
                              ? cut(valueTitle(run.lesson().steps[used.step], used.name), longestAnswer)
                              : before,
                 .unit = std::string(unitOf(base)),
                 .number = kept->second.number};
        value.text = cut(kept->second.text, longestAnswer);
        if (value.text.empty() && !std::isfinite(value.number))
            value.text = "infinite"; // JSON has no such number
    }
    std::vector<SheetValue> list;
    for (auto& entry : values)
        if (list.size() < mostValuesKept) list.push_back(std::move(entry.second));
    return list;
}

} // namespace

std::string machinesText(const MeasuredValues& values) {
    const auto gpu = values.find("machine.gpu.software");
    const bool software = gpu != values.end() && gpu->second.number > 0;
    return fmt::format("{}, {}{}", valueText(values, "machine.cpu"), valueText(values, "machine.gpu"),
                       translated(software ? " (software, not a GPU)" : ""));
}

std::string presentDate() { return fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(std::time(nullptr))); }

AnswerSheet answerSheet(const LessonRun& run, const MeasuredValues& values, const std::string& learner,
                        const std::string& pupil) {
    AnswerSheet sheet{.learner = cut(learner, longestLearner),
                      .pupil = pupil,
                      .lesson = run.lesson().name,
                      .title = cut(run.lesson().title, longestAnswer),
                      .language = run.lesson().language,
                      .date = presentDate(),
                      .machine = machinesText(values),
                      .questions = {},
                      .values = measuredIn(run)};
    for (std::size_t i = 0; i < run.lesson().steps.size(); ++i) {
        const LessonStep& step = run.lesson().steps[i];
        if (!step.ask) continue;
        sheet.questions.push_back(
            {.step = i + 1,
             .title = cut(step.title, longestAnswer),
             .text = cut(filledText(step.ask->text, values), longestAnswer),
             .prediction = answerOf(*step.ask, run.prediction(i), run.predictionVerdict(i)),
             .answer = answerOf(*step.ask, run.answers()[i], run.verdict(i))});
    }
    return sheet;
}

std::string answerFileName(const AnswerSheet& sheet) {
    // The pupil's mark keeps apart what two of the same name save in the same second.
    return fmt::format("answers-{}-{}-{:%Y%m%d-%H%M%S}.json", fileWord(sheet.learner),
                       fileWord(sheet.pupil.substr(0, 4)), fmt::localtime(std::time(nullptr)));
}

void writeAnswerSheet(const AnswerSheet& sheet, const fs::path& file) {
    writeFileAtomically(file, sheetJson(sheet).dump(1) + "\n");
}

} // namespace lockstep::demos
