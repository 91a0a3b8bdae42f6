#include "demos/lesson/lesson_run.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/telling/measured_text.h"
#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

/// The answers' numbers, for another language: its steps and choices are the same, and their texts are not.
/// Null for a step without an answer.
nlohmann::ordered_json numberOf(const LessonAnswer& answer) {
    if (answer.choice) return *answer.choice;
    if (answer.number) return *answer.number;
    if (answer.sketch) return *answer.sketch;
    return nullptr;
}

nlohmann::ordered_json numbersOf(const std::vector<LessonAnswer>& answers) {
    nlohmann::ordered_json numbers = nlohmann::ordered_json::array();
    for (const LessonAnswer& answer : answers) numbers.push_back(numberOf(answer));
    return numbers;
}

/// The same for the same language: choices are found by their texts, whatever their order is by then.
nlohmann::ordered_json textOf(const LessonStep& step, const LessonAnswer& answer) {
    return answer.choice ? nlohmann::ordered_json(step.ask->choices[*answer.choice].text) : numberOf(answer);
}

LessonAnswer answerFromText(const Question& question, const nlohmann::ordered_json& given) {
    LessonAnswer answer;
    if (given.is_number() && question.choices.empty())
        (question.sketch.empty() ? answer.number : answer.sketch) = given.get<double>();
    if (!given.is_string()) return answer;
    const auto choice = std::ranges::find(question.choices, given.get<std::string>(), &Choice::text);
    if (choice != question.choices.end())
        answer.choice = static_cast<std::size_t>(choice - question.choices.begin());
    return answer;
}

LessonAnswer answerFromNumber(const Question& question, const nlohmann::ordered_json& number) {
    LessonAnswer answer;
    if (question.choices.empty() && number.is_number())
        (question.sketch.empty() ? answer.number : answer.sketch) = number.get<double>();
    if (number.is_number_unsigned() && number.get<std::size_t>() < question.choices.size())
        answer.choice = number.get<std::size_t>();
    return answer;
}

AnswerVerdict verdictFrom(const nlohmann::ordered_json& json) {
    if (!json.is_number_unsigned()) return AnswerVerdict::none;
    return static_cast<AnswerVerdict>(
        std::min(json.get<std::uint64_t>(), static_cast<std::uint64_t>(AnswerVerdict::wrong)));
}

/// The verdict on a step in another language; none where there is no such verdict.
AnswerVerdict verdictFrom(const nlohmann::ordered_json& progress, std::size_t step) {
    const auto judged = progress.find("judged");
    return judged == progress.end() || !judged->is_array() || judged->size() <= step
               ? AnswerVerdict::none
               : verdictFrom((*judged)[step]);
}

/// "1:race.ratio"
bool isOfStep(std::string_view name) {
    return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0;
}

bool close(double given, double right, double tolerance) {
    return std::abs(given - right) <= tolerance * std::abs(right) + 1e-12;
}

} // namespace

std::optional<std::size_t> rightChoice(const Question& question, const MeasuredValues& values) {
    if (question.right) return question.right;
    for (std::size_t i = 0; i < question.choices.size(); ++i) {
        const std::optional<Condition>& when = question.choices[i].when;
        if (!when) continue;
        if (when->holds(values)) return i;
        // What an earlier step has measured may be missing where that step was passed over: then none is
        // right.
        for (const std::string& name : when->names())
            if (isOfStep(name) && !isMeasured(values, name)) return std::nullopt;
    }
    return std::nullopt;
}

double rightNumber(const Question& question, const MeasuredValues& values) {
    if (question.value.empty()) return question.number;
    const auto found = values.find(question.value);
    return found == values.end() ? Measured().number : found->second.number;
}

AnswerVerdict judge(const Question& question, const LessonAnswer& answer, const MeasuredValues& values) {
    if (answer.choice && !question.choices.empty()) {
        const std::optional<std::size_t> right = rightChoice(question, values);
        if (!right) return AnswerVerdict::waiting;
        return *right == *answer.choice ? AnswerVerdict::right : AnswerVerdict::wrong;
    }
    if (answer.number && question.choices.empty() && question.sketch.empty()) {
        const double right = rightNumber(question, values);
        if (std::isnan(right)) return AnswerVerdict::waiting;
        return close(*answer.number, right, question.tolerance) ? AnswerVerdict::right : AnswerVerdict::wrong;
    }
    if (answer.sketch && !question.sketch.empty()) {
        if (*answer.sketch == 0) return AnswerVerdict::waiting;
        return *answer.sketch <= question.within ? AnswerVerdict::right : AnswerVerdict::wrong;
    }
    return AnswerVerdict::none;
}

std::string verdictText(const Question& question, const LessonAnswer& answer, const MeasuredValues& values) {
    const AnswerVerdict verdict = judge(question, answer, values);
    const bool measured = question.choices.empty() ? !question.value.empty() : !question.right;
    const bool computed = question.value.starts_with("my.") || question.value.starts_with("machine.");
    switch (verdict) {
    case AnswerVerdict::none: return {};
    case AnswerVerdict::waiting: return std::string(translated("Your answer is kept until it is measured."));
    case AnswerVerdict::right:
        if (answer.sketch)
            return translatedFormat("Right: within a factor of {}.", twoDigits(*answer.sketch));
        // A number within the tolerance is seldom the very one.
        if (answer.number && computed)
            return translatedFormat("Right: {}.", valueText(values, question.value));
        if (answer.number && measured)
            return translatedFormat("Right: {} measured here.", valueText(values, question.value));
        if (answer.number) return translatedFormat("Right: {:.6g}.", question.number);
        return std::string(translated(measured ? "Right, as measured here." : "Right."));
    case AnswerVerdict::wrong: break;
    }
    if (answer.sketch) return translatedFormat("Typically off by a factor of {}.", twoDigits(*answer.sketch));
    if (!measured && question.choices.empty()) return translatedFormat("No: {:.6g}.", question.number);
    const std::string right = question.choices.empty()
                                  ? valueText(values, question.value)
                                  : question.choices[*rightChoice(question, values)].text;
    return measured && !computed ? translatedFormat("Not this time. Measured here: {}.", right)
                                 : translatedFormat("No: {}.", right);
}

bool LessonRun::go(std::size_t step) {
    if (step >= lesson_.steps.size()) return false;
    at_ = step;
    ended_ = false;
    shown_[step] = true;
    since_ = secondsNow();
    answerShown = false;
    holds_ = looked_ = heldBefore_ = recalls_ = false;
    return true;
}

bool LessonRun::end() {
    if (lesson_.steps.size() < 2) return false;
    go(lesson_.steps.size() - 1);
    ended_ = true;
    return true;
}

LessonRun::Score LessonRun::score() const {
    Score score;
    for (std::size_t i = 0; i < lesson_.steps.size(); ++i) {
        if (!lesson_.steps[i].ask) continue;
        ++score.questions;
        if (first_[i].verdict == AnswerVerdict::right) ++score.right;
    }
    return score;
}

bool LessonRun::covers(const MeasuredValues& values) const {
    if (!step().cover || !step().ask || ended_ || answerShown || answer().given()) return false;
    const Question& question = *step().ask;
    return question.choices.empty() ? !std::isnan(rightNumber(question, values))
                                    : rightChoice(question, values).has_value();
}

MeasuredValues LessonRun::valuesOf(std::size_t step, const MeasuredValues& values) const {
    MeasuredValues result;
    for (const auto& [name, value] : values)
        if (isOfStep(name) || name.starts_with("my.") || name.starts_with("machine.")) result[name] = value;
    // Steps that share a state also share what was measured in it; later ones have measured for those that
    // only ask.
    const auto add = [&](std::size_t i, bool anew) {
        const std::string mark = fmt::format("{}:", i + 1);
        for (auto kept = kept_.lower_bound(mark); kept != kept_.end() && kept->first.starts_with(mark);
             ++kept) {
            result[kept->first] = kept->second;
            Measured& value = result[kept->first.substr(mark.size())];
            if (anew || !value.known()) value = kept->second;
        }
    };
    for (std::size_t i = firstWithState(step); i <= step; ++i) add(i, true);
    for (std::size_t i = step + 1; i <= lastWithState(step); ++i) add(i, false);
    result[presentStepName].number = static_cast<double>(step + 1);
    return result;
}

std::size_t LessonRun::stepsDone() const {
    std::size_t done = 0;
    for (std::size_t i = 0; i < lesson_.steps.size(); ++i) done += stepDone(i) ? 1u : 0u;
    return done;
}

const std::string& LessonRun::stateOf(std::size_t step) const {
    static const std::string none;
    for (std::size_t i = step + 1; i-- > 0;)
        if (!lesson_.steps[i].state.empty()) return lesson_.steps[i].state;
    return none;
}

std::size_t LessonRun::firstWithState(std::size_t step) const {
    std::size_t first = step;
    while (first > 0 && stateOf(first - 1) == stateOf(step)) --first;
    return first;
}

std::size_t LessonRun::lastWithState(std::size_t step) const {
    std::size_t last = step;
    while (last + 1 < lesson_.steps.size() && stateOf(last + 1) == stateOf(step)) ++last;
    return last;
}

double LessonRun::input(const LessonInput& input) const {
    const auto found = typed_.find(input.name);
    return found == typed_.end() ? input.number : found->second;
}

void LessonRun::setInput(const std::string& name, std::optional<double> number) {
    if (number)
        typed_[name] = *number;
    else
        typed_.erase(name);
}

void LessonRun::look(MeasuredValues& values, bool measuring) {
    values.insert(kept_.begin(), kept_.end());
    values[presentStepName].number = static_cast<double>(at_ + 1);
    for (const LessonStep& each : lesson_.steps)
        for (const LessonInput& one : each.inputs) values[one.name].number = input(one);
    workOut(values);
    if (step().ask && !step().ask->sketch.empty()) noteSketch(step().ask->sketch, values);
    const bool held = std::exchange(holds_, step().wait && step().wait->holds(values));
    if (!std::exchange(looked_, true)) heldBefore_ = holds_;
    recalls_ = false;
    if (!holds_ && !measuring) recall(values);
    judgeAnswers(values, measuring);
    done_ = done_ || (last() && (holds_ || !waits()));
    if (held || !holds_) return; // what counts is the moment when it began to hold
    waited_[at_] = true;
    for (const auto& [name, value] : values) // the latest, if it is done again
        if (value.known() && !isOfStep(name) && name != presentStepName)
            kept_.insert_or_assign(fmt::format("{}:{}", at_ + 1, name), value);
}

void LessonRun::workOut(MeasuredValues& values) const {
    for (const LessonFormula& formula : lesson_.formulas)
        values[formula.name].number = formula.expression.evaluate(values);
}

// Another state was set since: the exhibit has measured nothing in this one.
void LessonRun::recall(MeasuredValues& values) {
    if (waits()) return;
    for (const auto& [name, value] : valuesOf(at_, {})) {
        if (isOfStep(name) || name == presentStepName || isMeasured(values, name)) continue;
        values[name] = value;
        recalls_ = true;
    }
    if (recalls_) workOut(values);
}

void LessonRun::judgeAnew(const Question& question, Judged& last, const LessonAnswer& answer,
                          const MeasuredValues& values) {
    const AnswerVerdict now = judge(question, answer, values);
    const bool decided = now == AnswerVerdict::right || now == AnswerVerdict::wrong;
    if (decided || last.answer != answer) last.answer = answer, last.verdict = now;
}

// Who thinks again before the measurement begins has predicted the later answer. Where nothing is measured,
// the first answer is judged at once, and stands.
void LessonRun::notePrediction(std::size_t step, const MeasuredValues& values, bool measuring) {
    const Question& question = *lesson_.steps[step].ask;
    Judged& first = first_[step];
    judgeAnew(question, first, first.frozen ? first.answer : answers_[step], values);
    const bool decided = first.verdict == AnswerVerdict::right || first.verdict == AnswerVerdict::wrong;
    const bool drawing = first.answer.sketch == 0.0; // it is measured when its factor is known
    first.frozen = first.frozen || (first.answer.given() && !drawing && (decided || measuring));
}

// A prediction is often decided a step later, in the same state; in another one, the values mean another
// thing.
void LessonRun::judgeAnswers(const MeasuredValues& values, bool measuring) {
    for (std::size_t i = 0; i < answers_.size(); ++i) {
        if (!lesson_.steps[i].ask) continue;
        if (stateOf(i) == state()) {
            judgeAnew(*lesson_.steps[i].ask, judged_[i], answers_[i], values);
            notePrediction(i, values, measuring);
        } else if (!first_[i].frozen && first_[i].answer != answers_[i]) {
            first_[i] = {answers_[i], AnswerVerdict::waiting};
        }
    }
}

bool LessonRun::asks() const {
    return std::ranges::any_of(lesson_.steps, [](const LessonStep& each) { return each.ask.has_value(); });
}

void LessonRun::noteSketch(const std::string& experiment, const MeasuredValues& values) {
    if (!isMeasured(values, fmt::format("lab.{}.sketched", experiment))) return;
    const std::string factor = fmt::format("lab.{}.sketch_factor", experiment);
    if (isMeasured(values, factor))
        answer().sketch = values.at(factor).number;
    else if (!answer().sketch)
        answer().sketch = 0;
}

nlohmann::ordered_json LessonRun::progress() const {
    nlohmann::ordered_json json{{"at", at_},
                                {"done", done_},
                                {"language", lesson_.language},
                                {"numbers", numbersOf(answers_)},
                                {"answers", nlohmann::ordered_json::object()},
                                {"kept", nlohmann::ordered_json::object()}};
    for (const auto& [name, value] : kept_) {
        nlohmann::ordered_json& kept = json["kept"][name];
        if (value.text.empty())
            kept = value.number;
        else
            kept = value.text;
    }
    for (std::size_t i = 0; i < lesson_.steps.size(); ++i)
        if (stepDone(i)) json["steps_done"].push_back(i);
    if (!typed_.empty()) json["typed"] = typed_;
    for (const Judged& judged : judged_) json["judged"].push_back(static_cast<unsigned>(judged.verdict));
    for (std::size_t i = 0; i < first_.size(); ++i)
        if (first_[i].answer.given())
            json["predictions"][lesson_.steps[i].title] = {
                {"step", i},
                {"number", numberOf(first_[i].answer)},
                {"answer", textOf(lesson_.steps[i], first_[i].answer)},
                {"verdict", static_cast<unsigned>(first_[i].verdict)},
                {"frozen", first_[i].frozen}};
    for (std::size_t i = 0; i < judged_.size(); ++i)
        if (judged_[i].verdict != AnswerVerdict::none)
            json["verdicts"][lesson_.steps[i].title] = static_cast<unsigned>(judged_[i].verdict);
    for (std::size_t i = 0; i < answers_.size(); ++i)
        if (answers_[i].given())
            json["answers"][lesson_.steps[i].title] = textOf(lesson_.steps[i], answers_[i]);
    return json;
}

// By the steps' titles, or by their numbers where the lesson is told in another language.
void LessonRun::resumePredictions(const nlohmann::ordered_json& progress, bool sameSteps) {
    first_.assign(lesson_.steps.size(), {});
    const auto predictions = progress.find("predictions");
    if (predictions == progress.end() || !predictions->is_object()) {
        first_ = judged_; // of an earlier version: the answers that there are came first
        for (Judged& each : first_) each.frozen = each.answer.given();
        return;
    }
    for (const auto& [title, each] : predictions->items()) {
        if (!each.is_object()) continue;
        const auto named = std::ranges::find(lesson_.steps, title, &LessonStep::title);
        auto step = static_cast<std::size_t>(named - lesson_.steps.begin());
        const auto field = [&each = each](const char* name) {
            return each.value(name, nlohmann::ordered_json());
        };
        const bool byNumber = named == lesson_.steps.end() && sameSteps && field("step").is_number_unsigned();
        if (byNumber) step = field("step").get<std::size_t>();
        if (step >= lesson_.steps.size() || !lesson_.steps[step].ask) continue;
        const Question& question = *lesson_.steps[step].ask;
        LessonAnswer answer = answerFromText(question, field("answer"));
        if (!answer.given() && sameSteps) answer = answerFromNumber(question, field("number"));
        // Without an answer of its own, the question is another one by now.
        if (answer.given() && answers_[step].given())
            first_[step] = {answer, verdictFrom(field("verdict")), field("frozen") != false};
    }
}

void LessonRun::resume(const nlohmann::ordered_json& progress) {
    if (!progress.is_object()) return;
    const auto done = progress.find("done");
    done_ = done != progress.end() && done->is_boolean() && done->get<bool>();
    if (const auto kept = progress.find("kept"); kept != progress.end() && kept->is_object())
        for (const auto& [name, value] : kept->items()) {
            if (!isOfStep(name)) continue;
            if (value.is_number()) kept_[name].number = value.get<double>();
            if (value.is_string()) kept_[name].text = value.get<std::string>();
        }
    const auto answers = progress.find("answers");
    for (std::size_t i = 0; i < lesson_.steps.size() && answers != progress.end() && answers->is_object();
         ++i) {
        const LessonStep& step = lesson_.steps[i];
        const auto given = answers->find(step.title);
        if (step.ask && given != answers->end()) answers_[i] = answerFromText(*step.ask, *given);
    }
    if (const auto verdicts = progress.find("verdicts"); verdicts != progress.end() && verdicts->is_object())
        for (std::size_t i = 0; i < judged_.size(); ++i) {
            const auto verdict = verdicts->find(lesson_.steps[i].title);
            if (verdict != verdicts->end() && answers_[i].given())
                judged_[i] = {answers_[i], verdictFrom(*verdict)};
        }
    if (const auto typed = progress.find("typed"); typed != progress.end() && typed->is_object())
        for (const auto& [name, number] : typed->items())
            if (number.is_number()) typed_[name] = number.get<double>();
    // Texts of another language cannot match. In the same language, only they say that the question is still
    // the same.
    const auto numbers = progress.find("numbers");
    const bool sameSteps = numbers != progress.end() && numbers->size() == lesson_.steps.size();
    const auto spoken = progress.find("language");
    const bool known = spoken != progress.end() && spoken->is_string();
    if (sameSteps && numbers->is_array() &&
        (known ? spoken->get<std::string>() : std::string()) != lesson_.language)
        for (std::size_t i = 0; i < lesson_.steps.size(); ++i)
            if (lesson_.steps[i].ask) {
                answers_[i] = answerFromNumber(*lesson_.steps[i].ask, (*numbers)[i]);
                judged_[i] = {answers_[i], verdictFrom(progress, i)};
            }
    resumePredictions(progress, sameSteps);
    if (const auto steps = progress.find("steps_done"); steps != progress.end() && steps->is_array())
        for (const auto& each : *steps)
            if (each.is_number_unsigned() && each.get<std::size_t>() < lesson_.steps.size())
                shown_[each.get<std::size_t>()] = waited_[each.get<std::size_t>()] = true;
    if (const auto at = progress.find("at"); at != progress.end() && at->is_number_unsigned())
        go(at->get<std::size_t>());
}

} // namespace lockstep::demos
