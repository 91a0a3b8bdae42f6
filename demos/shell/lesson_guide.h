// The lesson that is open, in the window: the state that each of its steps wants, what was set before, the
// values that it quotes, its panel, and the offer to begin one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "demos/draw/ui.h"
#include "demos/lesson/lesson_desk.h"
#include "demos/lesson/lesson_ending.h"
#include "demos/lesson/lesson_panel.h"

namespace lockstep::demos {

class LessonGuide {
  public:
    LessonDesk& desk() { return desk_; }
    /// Null: none is open.
    LessonRun* open() { return desk_.open(); }
    const LessonRun* open() const { return desk_.open(); }
    /// A lesson is open, and its step is about that exhibit.
    bool isAbout(std::string_view exhibit) const { return open() != nullptr && exhibit_ == exhibit; }
    /// The exhibit that the step is about, by its id.
    const std::string& exhibit() const { return exhibit_; }

    /// Opens a lesson where it was left. `own` is what was set before; a second lesson keeps that of the
    /// first.
    void begin(Lesson lesson, const nlohmann::ordered_json& own);
    /// Opens the texts of a state that has been set, if it has any, in place of a lesson.
    void beginTexts(Lesson texts, const nlohmann::ordered_json& state, std::string_view exhibit);
    /// Closes the lesson. What was set before is kept in own() until a state is opened.
    void close();
    /// What was set before the lesson; null: none is open.
    const nlohmann::ordered_json& own() const { return own_; }
    /// The texts of the state that is open, where it is no lesson's.
    const nlohmann::ordered_json& stateTexts() const { return stateTexts_; }

    /// The state that the step wants and the window does not have yet; empty: none. Of a step that was left
    /// before it is the one that it was left in, with what was trained.
    std::string wantedState() const;
    /// Before another step is gone to: what the exhibits are, App::state() with what was trained. Those that
    /// the step sets are kept for going back to it.
    void leave(const nlohmann::ordered_json& state);
    /// Another step than the window shows is under way, as after a device was lost on the way to it.
    bool stepPending() const { return open() != nullptr && open()->state() != stepState_; }
    /// The window has the state that was wanted.
    void noteState() { stepState_ = open()->state(); }
    /// The step is shown, and is about that exhibit.
    void noteStep(std::string_view exhibit);
    /// The neighbour to go to, if there is one; after the last step, the page that ends the lesson. In front
    /// of a class, where a clicker has one key, the answer comes before the next step.
    std::optional<std::size_t> neighbour(int by, bool presenter);
    /// The step that a press on the last page leads back to, once.
    std::optional<std::size_t> takeStep() { return std::exchange(stepWish_, std::nullopt); }
    /// Begins to type the number that the step asks for; false where it asks for none, or has it.
    bool typeDigit(char digit);
    /// False where the lesson has no such step any more.
    bool go(std::size_t step);
    /// Goes on in another language, which stays when the lesson is closed.
    void retell(const std::string& language);

    /// Once per frame: returns whether the lesson's file has changed, so that its step is to be shown anew.
    bool reload(Ui& ui);
    /// Takes what the exhibits have measured, for the step to wait for and to quote.
    ///   measuring   the step's exhibit is at work
    void look(MeasuredValues measured, bool measuring);
    /// As of the last frame, with what was measured in earlier steps.
    const MeasuredValues& values() const { return values_; }

    /// The step, in the side panel or above the exhibit.
    LessonPress draw(Ui& ui, bool inSidePanel);
    /// In place of the exhibit that the step is about: the lesson's last page, or a cover until the question
    /// is answered. False: the exhibit is to be seen. Returns a press on another lesson in `next`.
    bool drawInstead(Ui& ui, std::optional<std::filesystem::path>& next);
    /// Whether it would draw something.
    bool standsInstead() const { return open() != nullptr && (open()->ended() || covers()); }
    /// Nobody answers: what a step has measured is to be seen.
    void uncover() { uncovered_ = true; }
    /// The presenter's clock shows another second than the last frame did.
    bool clockMoves(const Ui& ui) const;
    /// Once, to somebody who is new here or has left a lesson. Returns the lesson that was accepted.
    /// busy   something else was begun
    std::optional<std::filesystem::path> drawOffer(Ui& ui, bool busy, bool covered);
    /// A link to a lesson that was pressed, if one was. Addresses are for a browser: they are copied.
    std::optional<std::string> takeLink(Ui& ui);
    /// The file of a lesson in the list, or of one beside the open one. Throws std::invalid_argument.
    std::filesystem::path linked(const std::string& link) const;
    /// Gives up the pictures on the device.
    void releaseDevice() { pictures_.clear(); }

  private:
    bool covers() const { return !uncovered_ && open()->covers(values_); }
    /// Both ask, through ui.saveWish, where.
    void saveAnswers(Ui& ui);
    void savePicture(Ui& ui) const;
    const LessonEntry* nextLesson();

    LessonDesk desk_;
    std::string exhibit_;
    std::string stepState_;                              // what the lesson has set last
    std::map<std::size_t, nlohmann::ordered_json> left_; // states, by LessonRun::stateSince()
    nlohmann::ordered_json stateTexts_ = nlohmann::ordered_json::object();
    nlohmann::ordered_json own_;
    MeasuredValues values_; // as of this frame, while a lesson is open
    LessonPictures pictures_;
    NumberTyping typing_;
    std::optional<LessonEnding> ending_; // while its page is shown
    std::optional<std::size_t> stepWish_;
    bool uncovered_ = false;
    bool offerGone_ = false;    // until the next start
    double clockShown_ = 0;     // seconds on the step, as of the last frame
    double lookedAtLesson_ = 0; // when its file was looked at
};

} // namespace lockstep::demos
