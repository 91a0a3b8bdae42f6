#include "demos/lesson/lesson_ending.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "demos/lesson/lesson_answers.h"
#include "demos/lesson/lesson_text.h"
#include "demos/telling/measured_text.h"
#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

// Around each measured value of a filled text: no text has these.
constexpr char valueBegins = '\x01';
constexpr char valueEnds = '\x02';

/// A text that shows where the values of this step stand; the machine's own are not measured.
MeasuredValues marked(const MeasuredValues& values, std::size_t step) {
    const std::string own = fmt::format("{}:", step + 1);
    const auto isOfAnother = [&](const std::string& name) {
        return std::isdigit(static_cast<unsigned char>(name.front())) != 0 && !name.starts_with(own);
    };
    MeasuredValues result = values;
    for (auto& [name, value] : result)
        if (value.known() && name != presentStepName && !name.starts_with("machine.") && !isOfAnother(name))
            value.text = valueBegins + valueText(values, name) + valueEnds;
    return result;
}

/// The first sentence of the step's answer that quotes what was measured, and misses nothing.
std::string measuredSentence(const LessonStep& step, std::size_t index, const MeasuredValues& values) {
    for (const TextBlock& block : knownBlocks(step.answer, marked(values, index))) {
        const std::string text = plainText(block);
        for (const std::string_view sentence : sentencesOf(text)) {
            if (sentence.find(valueBegins) == std::string_view::npos) continue;
            std::string plain(sentence);
            std::erase_if(plain, [](char letter) { return letter == valueBegins || letter == valueEnds; });
            return plain;
        }
    }
    return {};
}

std::string givenText(const Question& question, const LessonAnswer& answer) {
    if (answer.choice) return question.choices[*answer.choice].text;
    if (answer.number) return translatedFormat("{:.6g}", *answer.number);
    if (!answer.sketch) return {};
    return *answer.sketch == 0
               ? std::string(translated("a sketch"))
               : translatedFormat("a sketch, off by a factor of {}", twoDigits(*answer.sketch));
}

/// What is right, where that is known.
std::string rightOf(const Question& question, const MeasuredValues& values) {
    if (!question.sketch.empty()) return {};
    if (!question.choices.empty()) {
        const std::optional<std::size_t> right = rightChoice(question, values);
        return right ? question.choices[*right].text : std::string();
    }
    const double number = rightNumber(question, values);
    if (std::isnan(number)) return {};
    return question.value.empty() ? translatedFormat("{:.6g}", number) : valueText(values, question.value);
}

bool wasMeasured(const LessonRun& run, std::size_t step) {
    const std::string mark = fmt::format("{}:", step + 1);
    const auto first = run.kept().lower_bound(mark);
    return first != run.kept().end() && first->first.starts_with(mark);
}

} // namespace

LessonEnding endingOf(const LessonRun& run, const MeasuredValues& values) {
    LessonEnding ending{.title = run.lesson().title,
                        .machine = machinesText(values),
                        .date = presentDate().substr(0, 10),
                        .score = run.score(),
                        .rows = {}};
    for (std::size_t i = 0; i < run.lesson().steps.size(); ++i) {
        const LessonStep& step = run.lesson().steps[i];
        const MeasuredValues then = run.valuesOf(i, values);
        EndingRow row{.step = i + 1,
                      .title = step.title,
                      .asks = step.ask.has_value(),
                      .verdict = run.predictionVerdict(i),
                      .prediction = step.ask ? givenText(*step.ask, run.prediction(i)) : std::string(),
                      .right = {},
                      .result = {}};
        // Who has neither answered nor measured is not given the answer here.
        const bool told = !row.prediction.empty() || !row.asks || wasMeasured(run, i);
        if (told) row.result = measuredSentence(step, i, then);
        if (told && step.ask) row.right = rightOf(*step.ask, then);
        if (row.asks || !row.result.empty()) ending.rows.push_back(std::move(row));
    }
    return ending;
}

std::string scoreText(const LessonEnding& ending) {
    const LessonRun::Score& score = ending.score;
    if (score.questions == 0) return std::string(translated("You have finished this lesson"));
    const auto answered = static_cast<std::size_t>(
        std::ranges::count_if(ending.rows, [](const EndingRow& row) { return !row.prediction.empty(); }));
    if (answered == 0) return translatedFormat("None of the {} questions answered", score.questions);
    if (answered == score.questions)
        return translatedFormat("{} of {} as predicted", score.right, score.questions);
    return translatedFormat("{} of {} right; {} not answered", score.right, answered,
                            score.questions - answered);
}

std::string predictionText(const EndingRow& row) {
    if (!row.asks) return {};
    return row.prediction.empty() ? std::string(translated("Not answered."))
                                  : translatedFormat("You predicted: {}", row.prediction);
}

std::string rightText(const EndingRow& row) {
    return row.right.empty() ? std::string() : translatedFormat("Right: {}", row.right);
}

std::string openText(const LessonEnding& ending) {
    std::string steps;
    for (const EndingRow& row : ending.rows)
        if (row.open()) steps += (steps.empty() ? "" : ", ") + fmt::format("{}. {}", row.step, row.title);
    return steps.empty() ? std::string() : translatedFormat("Not answered: {}", steps);
}

} // namespace lockstep::demos
