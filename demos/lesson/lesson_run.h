// A lesson that somebody is in: the step at hand, and what was answered.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/kit/pacer.h"
#include "demos/lesson/lesson.h"

namespace lockstep::demos {

/// The answer to a question of a lesson's step.
struct LessonAnswer {
    std::optional<std::size_t> choice; ///< from 0
    std::optional<double> number;
    std::optional<double> sketch; ///< by which factor it is typically off; 0: not measured yet

    bool given() const { return choice || number || sketch; }
    bool operator==(const LessonAnswer&) const = default;
};

enum class AnswerVerdict {
    none,    ///< no answer, or none can be judged
    waiting, ///< answered; the measurement that decides is missing
    right,
    wrong,
};

/// The choice that is right; none: the measurement that decides is missing, or supports no choice.
std::optional<std::size_t> rightChoice(const Question& question, const MeasuredValues& values);
/// The number that is right; NaN while it is not measured.
double rightNumber(const Question& question, const MeasuredValues& values);
AnswerVerdict judge(const Question& question, const LessonAnswer& answer, const MeasuredValues& values);
/// "That is so here: 12.3." or "Measured: 12.3."; empty while there is nothing to say.
std::string verdictText(const Question& question, const LessonAnswer& answer, const MeasuredValues& values);

class LessonRun {
  public:
    /// The lesson has a step.
    explicit LessonRun(Lesson lesson)
        : lesson_(std::move(lesson)), answers_(lesson_.steps.size()), judged_(lesson_.steps.size()),
          first_(lesson_.steps.size()), shown_(lesson_.steps.size()), waited_(lesson_.steps.size()) {
        shown_.front() = true;
    }

    const Lesson& lesson() const { return lesson_; }
    std::size_t at() const { return at_; }
    const LessonStep& step() const { return lesson_.steps[at_]; }
    bool first() const { return at_ == 0; }
    bool last() const { return at_ + 1 == lesson_.steps.size(); }
    /// False where there is no such step.
    bool go(std::size_t step);
    /// The page after the last step: what became of the lesson. at() stays at the last step; go() leaves it.
    bool ended() const { return ended_; }
    /// False where the lesson is a single step, which has no such page.
    bool end();
    /// The state of the step, or the last one before it: JSON, or empty.
    const std::string& state() const { return stateOf(at_); }
    /// The first of the steps before this one that share its state, one after the other.
    std::size_t stateSince() const { return firstWithState(at_); }

    LessonAnswer& answer() { return answers_[at_]; }
    const LessonAnswer& answer() const { return answers_[at_]; }
    const std::vector<LessonAnswer>& answers() const { return answers_; }
    /// How the answer to a step was judged last: what decided it may be gone since.
    AnswerVerdict verdict(std::size_t step) const { return judged_[step].verdict; }
    /// The answer to a step that stood when its measurement began or, where nothing is measured, the first
    /// one; whatever took its place since. And how that was judged.
    const LessonAnswer& prediction(std::size_t step) const { return first_[step].answer; }
    AnswerVerdict predictionVerdict(std::size_t step) const { return first_[step].verdict; }
    /// Another answer does not change the prediction any more.
    bool frozen(std::size_t step) const { return first_[step].frozen; }
    /// Predictions that were right, of so many questions.
    struct Score {
        std::size_t right = 0;
        std::size_t questions = 0;
    };
    Score score() const;
    /// What was measured when steps were done, by names such as "1:race.ratio".
    const MeasuredValues& kept() const { return kept_; }
    bool asks() const;        ///< some step does
    bool answerShown = false; ///< the step's

    /// Once per frame: notes that the step's condition holds, which stays so when values go, and a sketch
    /// that was drawn. Adds to the values what was measured when earlier steps were done ("1:race.ratio"),
    /// what this one has measured before, where the exhibit has lost it since, what was typed, and what the
    /// lesson works out of all that.
    ///   measuring   the step's exhibit is at work: predictions about it stand from now on
    void look(MeasuredValues& values, bool measuring = false);
    /// What was typed into an input, or its usual number.
    double input(const LessonInput& input) const;
    /// Empty: the usual number again.
    void setInput(const std::string& name, std::optional<double> number);
    /// What the step waits for has not happened yet.
    bool waits() const { return step().wait && !waited_[at_]; }
    /// What it waits for held already when the step was turned to.
    bool heldBefore() const { return heldBefore_; }
    /// The exhibit does not have it any more: the values are those of the time when the step was done.
    bool recalls() const { return recalls_; }
    /// The question about what is on the screen is to be answered before that is seen.
    bool covers(const MeasuredValues& values) const;
    /// The values as they were when that step was done; of what no step keeps, those of `values`.
    MeasuredValues valuesOf(std::size_t step, const MeasuredValues& values) const;
    /// Steps that were shown and whose condition has held.
    std::size_t stepsDone() const;
    /// Since it was turned to.
    double secondsOnStep() const { return secondsNow() - since_; }

    /// The last step has been done, now or before.
    bool done() const { return done_; }
    /// Step, answers and what steps have measured, to go on with at another time.
    nlohmann::ordered_json progress() const;
    /// Takes over what fits; a lesson may have been rewritten since.
    void resume(const nlohmann::ordered_json& progress);

  private:
    struct Judged {
        LessonAnswer answer;
        AnswerVerdict verdict = AnswerVerdict::none;
        bool frozen = false; ///< of predictions
    };
    bool stepDone(std::size_t step) const {
        return shown_[step] && (waited_[step] || !lesson_.steps[step].wait);
    }
    const std::string& stateOf(std::size_t step) const;
    std::size_t firstWithState(std::size_t step) const;
    std::size_t lastWithState(std::size_t step) const;
    void recall(MeasuredValues& values);
    void workOut(MeasuredValues& values) const;
    static void judgeAnew(const Question& question, Judged& last, const LessonAnswer& answer,
                          const MeasuredValues& values);
    void judgeAnswers(const MeasuredValues& values, bool measuring);
    void notePrediction(std::size_t step, const MeasuredValues& values, bool measuring);
    void resumePredictions(const nlohmann::ordered_json& progress, bool sameSteps);
    void noteSketch(const std::string& experiment, const MeasuredValues& values);

    Lesson lesson_;
    std::size_t at_ = 0;
    bool ended_ = false;
    double since_ = secondsNow();
    std::vector<LessonAnswer> answers_;   // by step
    std::vector<Judged> judged_;          // likewise
    std::vector<Judged> first_;           // likewise: predictions
    std::vector<bool> shown_;             // likewise
    std::vector<bool> waited_;            // likewise
    MeasuredValues kept_;                 // as steps were done
    std::map<std::string, double> typed_; // inputs, by name
    bool holds_ = false;                  // the step's condition, as of the last look
    bool looked_ = false;                 // since the step was turned to
    bool heldBefore_ = false;             // at the first of these looks
    bool recalls_ = false;                // as of the last look
    bool done_ = false;                   // once, to the end
};

} // namespace lockstep::demos
