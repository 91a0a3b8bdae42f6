#include "demos/shell/lesson_guide.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "demos/draw/png.h"
#include "demos/lesson/ending_page.h"
#include "demos/lesson/lesson_answers.h"
#include "demos/lesson/lesson_file.h"
#include "demos/shell/guarded.h"
#include "demos/shell/status_line.h"
#include "demos/words/text.h"

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

namespace {

/// The offer in one line, and in fewer words.
/// reached   the step where the lesson was left, from 0 on; empty: it was never begun
std::vector<std::string> offerWords(const LessonEntry& lesson, std::optional<std::size_t> reached) {
    if (reached)
        return {translatedFormat("Welcome back. \"{}\" is not finished: step {} of {}.", lesson.title,
                                 *reached + 1, lesson.steps),
                std::string(translated("Welcome back."))};
    std::vector<std::string> words{translatedFormat("New here? Start with \"{}\".", lesson.title),
                                   std::string(translated("New here?"))};
    if (lesson.minutes > 0)
        words.insert(words.begin(), translatedFormat("New here? Start with \"{}\", {}.", lesson.title,
                                                     minutesText(lesson.minutes)));
    return words;
}

} // namespace

std::optional<std::filesystem::path> LessonGuide::drawOffer(Ui& ui, bool busy, bool covered) {
    offerGone_ = offerGone_ || busy;
    if (covered || offerGone_ || ui.presenter || open() != nullptr || !(desk_.offers() || desk_.left()))
        return {};
    const std::filesystem::path goOn = desk_.left() ? desk_.left()->lesson : std::filesystem::path();
    const auto fits = [&](const LessonEntry& entry) {
        return entry.problem.empty() && (goOn.empty() || entry.file == goOn);
    };
    const auto found = std::ranges::find_if(desk_.list(), fits);
    if (found == desk_.list().end()) return {};
    const LessonEntry& first = *found;
    const auto words =
        offerWords(first, goOn.empty() ? std::nullopt : std::optional(desk_.reached(first.name).value_or(0)));
    const char* const accept = goOn.empty() ? "Start the lesson" : "Go on";
    // On the line of messages, which says nothing yet: it hides nothing of the exhibit.
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    const ImGuiStyle& style = ImGui::GetStyle();
    const float height = statusLineRoom(ui);
    const float gap = ui.px(10);
    const float buttons = textWidth(accept) + textWidth("No, thanks") + 4 * style.FramePadding.x + 2 * gap;
    const float end = size.x - ui.px(16);
    const float room = end - ui.px(40) - textWidth("F1: keys and glossary") - buttons;
    const auto fitting =
        std::ranges::find_if(words, [&](const std::string& each) { return lettersWidth(each) <= room; });
    const std::string& text = fitting == words.end() ? words.back() : *fitting;
    const float width = lettersWidth(text) + buttons;
    ImGui::SetNextWindowPos({end - width, size.y - height}, ImGuiCond_Always);
    ImGui::SetNextWindowSize({width, height});
    ImGui::PushStyleColor(ImGuiCol_WindowBg, ui.theme.panel);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {style.FramePadding.x, ui.px(2)});
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {gap, 0});
    constexpr ImGuiWindowFlags flags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                       ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing;
    std::optional<std::filesystem::path> accepted;
    if (ImGui::Begin("offer", nullptr, flags)) {
        ImGui::GetWindowDrawList()->AddLine({end - width, size.y - height}, {end, size.y - height},
                                            ui.theme.border, ui.line());
        ImGui::SetCursorPosY((height - ImGui::GetFrameHeight()) / 2);
        ImGui::AlignTextToFramePadding();
        ImGui::TextUnformatted(text.c_str());
        ImGui::SameLine();
        if (ui.primaryButton(goOn.empty() ? "Start the lesson##offer" : "Go on##offer",
                             goOn.empty() ? "Opens the first lesson."
                                          : "Opens the lesson at the step where you left it."))
            accepted = first.file;
        ImGui::SameLine();
        if (ui.button("No, thanks##offer", "Closes this offer for good. Lessons stay available at the left."))
            desk_.decline();
    }
    ImGui::End();
    ImGui::PopStyleVar(5);
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
