#include "demos/shell/lesson_guide.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "demos/draw/png.h"
#include "demos/lesson/ending_page.h"
#include "demos/lesson/lesson_answers.h"
#include "demos/lesson/lesson_file.h"
#include "demos/shell/guarded.h"

namespace lockstep::demos {

namespace {

using nlohmann::ordered_json;

constexpr double lookSeconds = 1; // between looks at the lesson's file, which its author may be writing

} // namespace

void LessonGuide::begin(Lesson lesson, const ordered_json& own) {
    if (own_.is_null()) own_ = own;
    ending_.reset();
    stateTexts_ = ordered_json::object();
    stepState_.clear();
    left_.clear();
    desk_.start(std::move(lesson));
}

void LessonGuide::beginTexts(Lesson texts, const ordered_json& state, std::string_view exhibit) {
    desk_.close();
    own_ = nullptr;
    stepState_.clear();
    stateTexts_ = ordered_json::object();
    if (texts.steps.empty()) return;
    for (const char* name : {"title", "about", "task", "answer"})
        if (state.contains(name)) stateTexts_[name] = state[name];
    desk_.start(std::move(texts));
    exhibit_ = exhibit;
}

void LessonGuide::close() {
    desk_.close();
    pictures_.clear();
    stateTexts_ = ordered_json::object();
}

std::string LessonGuide::wantedState() const {
    const std::string& state = open()->state();
    if (state == stepState_) return {};
    const auto left = left_.find(open()->stateSince());
    return left == left_.end() ? state : left->second.dump();
}

void LessonGuide::leave(const ordered_json& state) {
    if (open() == nullptr || open()->state().empty() || stepPending()) return;
    const ordered_json wanted = ordered_json::parse(open()->state());
    ordered_json kept{{"lockstep", state["lockstep"]}, {"exhibit", exhibit_}};
    if (const auto exhibits = wanted.find("exhibits"); exhibits != wanted.end())
        for (const auto& [id, unused] : exhibits->items()) kept["exhibits"][id] = state["exhibits"][id];
    for (const char* name : {"speed", "speeds"})
        if (wanted.contains(name)) kept[name] = wanted[name];
    left_[open()->stateSince()] = std::move(kept);
}

void LessonGuide::noteStep(std::string_view exhibit) {
    pictures_.clear(); // of the step before
    typing_ = {};
    exhibit_ = exhibit;
}

std::optional<std::size_t> LessonGuide::neighbour(int by, bool presenter) {
    LessonRun* run = open();
    if (run == nullptr) return {};
    if (by > 0 && presenter && hidesAnswer(*run, values_)) {
        run->answerShown = true;
        return {};
    }
    if (run->ended()) return by < 0 ? std::optional(run->at()) : std::nullopt;
    const auto to = static_cast<std::ptrdiff_t>(run->at()) + by;
    const bool single = run->lesson().steps.size() < 2; // it has no end
    if (to < 0 || to >= std::ssize(run->lesson().steps) + (single ? 0 : 1)) return {};
    return static_cast<std::size_t>(to);
}

bool LessonGuide::typeDigit(char digit) {
    if (open() == nullptr || !wantsNumber(*open())) return false;
    if (!typing_.active) typing_.first = digit; // else the field takes it itself
    return true;
}

bool LessonGuide::go(std::size_t step) {
    if (open() == nullptr) return false;
    ending_.reset();
    if (!(step == open()->lesson().steps.size() ? open()->end() : open()->go(step))) return false;
    desk_.save();
    return true;
}

void LessonGuide::retell(const std::string& language) {
    if (!own_.is_null()) own_["language"] = language;
    desk_.look();
    if (stateTexts_.empty())
        desk_.retell();
    else
        desk_.start(lessonOfState(stateTexts_));
    ending_.reset();
}

bool LessonGuide::reload(Ui& ui) {
    if (open() == nullptr || ui.now - lookedAtLesson_ <= lookSeconds) return false;
    lookedAtLesson_ = ui.now;
    bool changed = false;
    guarded(ui, [&] { changed = desk_.reload(); });
    if (changed) left_.clear(), ending_.reset();
    return changed;
}

void LessonGuide::look(MeasuredValues measured, bool measuring) {
    values_ = std::move(measured);
    open()->look(values_, measuring); // adds what earlier steps have measured
}

LessonPress LessonGuide::draw(Ui& ui, bool inSidePanel) {
    static const MeasuredValues masked; // quotes differ from run to run
    const MeasuredValues& values = ui.masked ? masked : values_;
    const LessonView view{values, pictures_, typing_};
    clockShown_ = std::floor(open()->secondsOnStep());
    return inSidePanel ? drawLesson(ui, *open(), view) : drawLessonLine(ui, *open(), view);
}

bool LessonGuide::drawInstead(Ui& ui, std::optional<std::filesystem::path>& next) {
    if (!standsInstead()) return false;
    if (!open()->ended()) {
        drawCover(ui);
        return true;
    }
    if (!ending_) ending_ = endingOf(*open(), values_);
    const LessonEntry* following = nextLesson();
    const EndingPress press = drawEnding(ui, *ending_, following, desk_.learner);
    switch (press.act) {
    case EndingAct::none: break;
    case EndingAct::nextLesson: next = following->file; break;
    case EndingAct::savePicture: savePicture(ui); break;
    case EndingAct::saveAnswers: saveAnswers(ui); break;
    case EndingAct::goBack: stepWish_ = press.step; break;
    }
    return true;
}

// The first one after this in the list that is not done; from the list's end on, its beginning.
const LessonEntry* LessonGuide::nextLesson() {
    const std::vector<LessonEntry>& list = desk_.list();
    const auto here = std::ranges::find(list, open()->lesson().name, &LessonEntry::name);
    const auto at = here == list.end() ? list.size() - 1 : static_cast<std::size_t>(here - list.begin());
    for (std::size_t i = 1; i <= list.size(); ++i) {
        const LessonEntry& each = list[(at + i) % list.size()];
        if (each.problem.empty() && !desk_.done(each.name) && each.name != open()->lesson().name)
            return &each;
    }
    return nullptr;
}

void LessonGuide::savePicture(Ui& ui) const {
    ui.saveWish =
        SaveWish{"lesson-" + open()->lesson().name + ".png",
                 [&ui, ending = *ending_](const std::filesystem::path& file) {
                     writePng(file, endingPicture(ending));
                     ui.say(Severity::info, translatedFormat("The picture is in {}.",
                                                             std::filesystem::absolute(file).string()));
                 }};
}

bool LessonGuide::clockMoves(const Ui& ui) const {
    return ui.presenter && open() != nullptr && !ui.masked &&
           std::floor(open()->secondsOnStep()) != clockShown_;
}

void LessonGuide::saveAnswers(Ui& ui) {
    if (open() == nullptr) return;
    const AnswerSheet sheet = answerSheet(*open(), values_, desk_.learner, desk_.pupil());
    desk_.save();
    ui.saveWish = SaveWish{
        answerFileName(sheet), [&ui, sheet](const std::filesystem::path& file) {
            writeAnswerSheet(sheet, file);
            ui.say(Severity::info,
                   translatedFormat("Your answers are in {}.", std::filesystem::absolute(file).string()),
                   "Hand it to your teacher: nothing was sent.");
        }};
}

std::optional<std::filesystem::path> LessonGuide::drawOffer(Ui& ui, bool busy, bool covered) {
    offerGone_ = offerGone_ || busy;
    if (covered || offerGone_ || open() != nullptr || !(desk_.offers() || desk_.left())) return {};
    const std::filesystem::path goOn = desk_.left() ? desk_.left()->lesson : std::filesystem::path();
    const auto fits = [&](const LessonEntry& entry) {
        return entry.problem.empty() && (goOn.empty() || entry.file == goOn);
    };
    const auto found = std::ranges::find_if(desk_.list(), fits);
    if (found == desk_.list().end()) return {};
    const LessonEntry& first = *found;
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({size.x - ui.px(16), size.y - ui.px(48)}, ImGuiCond_Always, {1, 1});
    ImGui::SetNextWindowSize({std::min(ui.px(360), size.x - ui.px(32)), 0});
    ImGui::PushStyleColor(ImGuiCol_WindowBg, ui.theme.raised);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(16), ui.px(14)});
    constexpr ImGuiWindowFlags flags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                       ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing;
    std::optional<std::filesystem::path> accepted;
    if (ImGui::Begin("offer", nullptr, flags)) {
        ui.heading(goOn.empty() ? "New here?" : "Welcome back");
        const std::string time =
            first.minutes > 0 ? translatedFormat(" It takes {}.", minutesText(first.minutes)) : "";
        ui.paragraph(goOn.empty()
                         ? translatedFormat("Begin with the lesson \"{}\".{}", first.title, time)
                         : translatedFormat("The lesson \"{}\" is not finished: step {} of {}.", first.title,
                                            desk_.reached(first.name).value_or(0) + 1, first.steps));
        if (ui.primaryButton(goOn.empty() ? "Start the lesson##offer" : "Go on##offer",
                             goOn.empty() ? "Opens the first lesson."
                                          : "Opens the lesson at the step where you left it."))
            accepted = first.file;
        ImGui::SameLine();
        if (ui.button("No, thanks##offer", "Closes this offer for good. Lessons stay available at the left."))
            desk_.decline();
    }
    ImGui::End();
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
    return accepted;
}

std::optional<std::string> LessonGuide::takeLink(Ui& ui) {
    const std::string link = std::exchange(ui.linkWish, {});
    if (link.empty() || std::filesystem::path(link).extension() == ".md")
        return link.empty() ? std::nullopt : std::optional(link);
    ImGui::SetClipboardText(link.c_str());
    ui.say(Severity::info, translatedFormat("Copied {}.", link), "Paste it into a browser.");
    return {};
}

std::filesystem::path LessonGuide::linked(const std::string& link) const {
    return linkedLesson(open() == nullptr ? Lesson{} : open()->lesson(), link);
}

} // namespace lockstep::demos
