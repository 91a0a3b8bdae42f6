#include "demos/lesson/lesson_ending.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "demos/lesson/lesson_answers.h"
#include "demos/telling/measured_text.h"
#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

// Around each measured value of a filled text: no text has these.
constexpr char valueBegins = '\x01';
constexpr char valueEnds = '\x02';

/// A text that shows where its values stand; the machine's own are not measured.
MeasuredValues marked(const MeasuredValues& values) {
    MeasuredValues result = values;
    for (auto& [name, value] : result)
        if (value.known() && name != presentStepName && !name.starts_with("machine."))
            value.text = valueBegins + valueText(values, name) + valueEnds;
    return result;
}

/// The sentences of a paragraph. "12.3 ms" and "e.g. this" are no ends: a sentence begins with a capital, or
/// with a value.
std::vector<std::string_view> sentences(std::string_view text) {
    std::vector<std::string_view> found;
    std::size_t begin = 0;
    for (std::size_t at = 0; at + 2 < text.size(); ++at) {
        const auto next = static_cast<unsigned char>(text[at + 2]);
        const bool ends = std::string_view(".!?").find(text[at]) != std::string_view::npos;
        if (!ends || text[at + 1] != ' ' || (std::islower(next) != 0)) continue;
        found.push_back(text.substr(begin, at + 1 - begin));
        begin = at + 2;
    }
    if (begin < text.size()) found.push_back(text.substr(begin));
    return found;
}

/// The first sentence of the step's answer that quotes what was measured, and misses nothing.
std::string measuredSentence(const LessonStep& step, const MeasuredValues& values) {
    const std::string_view missing = translated("not measured yet");
    for (const TextBlock& block : filledBlocks(step.answer, marked(values))) {
        const std::string text = plainText(block);
        for (const std::string_view sentence : sentences(text)) {
            if (sentence.find(valueBegins) == std::string_view::npos ||
                sentence.find(missing) != std::string_view::npos)
                continue;
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
std::string rightText(const Question& question, const MeasuredValues& values) {
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
                      .result = {}};
        // Who has neither answered nor measured is not given the answer here.
        const bool answered = !row.prediction.empty();
        if (answered || !row.asks || wasMeasured(run, i)) row.result = measuredSentence(step, then);
        if (answered && row.result.empty()) row.result = rightText(*step.ask, then);
        if (row.asks || !row.result.empty()) ending.rows.push_back(std::move(row));
    }
    return ending;
}

std::string scoreText(const LessonEnding& ending) {
    const LessonRun::Score& score = ending.score;
    if (score.questions == 0) return std::string(translated("You have finished this lesson"));
    const bool answered =
        std::ranges::any_of(ending.rows, [](const EndingRow& row) { return !row.prediction.empty(); });
    return answered ? translatedFormat("{} of {} as predicted", score.right, score.questions)
                    : translatedFormat("None of the {} questions answered", score.questions);
}

std::string predictionText(const EndingRow& row) {
    if (!row.asks) return {};
    return row.prediction.empty() ? std::string(translated("Not answered."))
                                  : translatedFormat("You predicted: {}", row.prediction);
}

} // namespace lockstep::demos
