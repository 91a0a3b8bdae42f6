// The lesson that is open: it sets the exhibits' state, and quotes what they have measured.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "demos/kit/assets.h"
#include "demos/lesson/lesson_answers.h"
#include "demos/lesson/lesson_file.h"
#include "demos/shell/app.h"
#include "engine/cpu/cpu_info.h"

namespace lockstep::demos {

namespace {

using nlohmann::ordered_json;

constexpr double lookSeconds = 1; // between looks at the lesson's file, which its author may be writing

} // namespace

// Every state is checked before the first is shown: a teacher learns of mistakes before the class does.
void App::openLesson(const std::filesystem::path& file) {
    Lesson lesson = readLesson(file);
    for (const LessonStep& step : lesson.steps) {
        if (step.state.empty()) continue;
        try {
            readState(ordered_json::parse(step.state));
        } catch (const std::exception& error) {
            throw std::invalid_argument(describe(file, {step.lines.at("state"), error.what()}));
        }
    }
    if (aside_.is_null()) aside_ = lastState();
    stateTexts_ = ordered_json::object();
    stepState_.clear();
    desk_.start(std::move(lesson));
    showStep();
}

void App::showStep() {
    const std::string state = desk_.open()->state(); // a copy: the lesson may be read anew meanwhile
    if (!state.empty() && state != stepState_) {
        guarded([&] {
            readState(ordered_json::parse(state))();
            stepState_ = state;
        });
    }
    pictures_.clear(); // of the step before
    lessonExhibit_ = exhibit().id();
    settle_ = 3;
}

void App::turnLesson(int by) {
    LessonRun* run = desk_.open();
    if (run == nullptr) return;
    // In front of a class, a clicker has one key: the answer comes before the next step.
    if (by > 0 && ui_->presenter && hidesAnswer(*run, measured_)) {
        run->answerShown = true;
        settle_ = 3;
        return;
    }
    const auto to = static_cast<std::ptrdiff_t>(run->at()) + by;
    if (to < 0 || to >= std::ssize(run->lesson().steps)) return;
    later_ = [this, to] {
        if (desk_.open() == nullptr || !desk_.open()->go(static_cast<std::size_t>(to))) return;
        desk_.save();
        showStep();
    };
}

void App::closeLesson() {
    desk_.close();
    pictures_.clear();
    stateTexts_ = ordered_json::object();
    settle_ = 3;
    if (aside_.is_null()) return;
    guarded([&] {
        const ordered_json own = aside_; // kept until it is back
        // A state is silent about what a person has not chosen.
        chosenSpeeds_.clear();
        for (const auto& entry : exhibits_) entry->setSpeed(flatOut_ ? 0 : entry->usualSpeed());
        detailsChosen_.reset();
        setState(own);
    });
}

// Once per frame.
void App::lookAtLesson() {
    if (desk_.open() == nullptr) return;
    if (ui_->now - lookedAtLesson_ > lookSeconds) {
        lookedAtLesson_ = ui_->now;
        guarded([this] {
            if (desk_.reload()) showStep();
        });
    }
    measured_ = measured();
    desk_.open()->look(measured_); // adds what earlier steps have measured
}

void App::setLanguage(const std::string& code) {
    speakLanguage(code);
    language_ = code;
    if (!aside_.is_null()) aside_["language"] = code; // it stays when the lesson is closed
    desk_.look();
    desk_.retell();
    settle_ = 3;
}

void App::fixLanguage(const std::string& code) {
    speakLanguage(code);
    languageFixed_ = true;
}

void App::speakLanguage(const std::string& code) {
    const std::vector<std::string> problems = chooseLanguage(code);
    if (problems.empty()) return;
    const std::string more =
        problems.size() == 1 ? "" : fmt::format("{} more are wrong.", problems.size() - 1);
    ui_->say(Severity::warning, problems.front(), more);
}

MeasuredValues App::measured() const {
    MeasuredValues values;
    for (const auto& entry : exhibits_) entry->measured(values);
    const gpu::DeviceReport& device = ui_->graphics.device().report();
    values["machine.cpu"].text = cpuName();
    values["machine.cpu.threads"].number = std::max(1u, std::thread::hardware_concurrency());
    values["machine.gpu"].text = device.name;
    values["machine.gpu.software"].number = device.type == gpu::DeviceType::software ? 1 : 0;
    values["machine.gpu.subgroup_size"].number = device.limits.subgroupSize;
    values["machine.gpu.largest_workgroup"].number = device.limits.groupInvocations;
    values["machine.gpu.memory_bytes"].number = static_cast<double>(device.memory);
    return values;
}

void App::drawLessonPart(bool inSidePanel) {
    LessonRun* run = desk_.open();
    if (run == nullptr) return;
    if (!lessonIsHere()) { // a task is not about another exhibit
        if (ui_->button("Back to the lesson", "Shows the exhibit that the step is about."))
            later_ = [this] { showExhibit(lessonExhibit_); };
        return;
    }
    static const MeasuredValues masked; // quotes differ from run to run
    const MeasuredValues& values = ui_->masked ? masked : measured_;
    const LessonView view{values, pictures_, desk_.learner};
    clockShown_ = std::floor(run->secondsOnStep());
    const LessonPress press = inSidePanel ? drawLesson(*ui_, *run, view) : drawLessonLine(*ui_, *run, view);
    if (press != LessonPress::none) settle_ = 3;
    switch (press) {
    case LessonPress::close: later_ = [this] { closeLesson(); }; break;
    case LessonPress::saveAnswers: later_ = [this] { guarded([this] { saveAnswers(); }); }; break;
    case LessonPress::next: turnLesson(1); break;
    case LessonPress::back: turnLesson(-1); break;
    case LessonPress::none: break;
    }
}

bool App::clockMoves() const {
    return ui_->presenter && lessonIsHere() && !ui_->masked &&
           std::floor(desk_.open()->secondsOnStep()) != clockShown_;
}

void App::saveAnswers() {
    if (desk_.open() == nullptr) return;
    const AnswerSheet sheet = answerSheet(*desk_.open(), measured_, desk_.learner, desk_.pupil());
    desk_.save();
    const std::filesystem::path file = writeAnswerSheet(sheet, std::filesystem::current_path());
    ui_->say(Severity::info, translatedFormat("Your answers are in {}.", file.string()),
             "Hand it to your teacher: nothing was sent.");
}

// To a lesson in the list, or one beside the open one; addresses are for a browser.
void App::followLink() {
    if (ui_->linkWish.empty()) return;
    const std::string link = std::exchange(ui_->linkWish, {});
    settle_ = 3;
    if (std::filesystem::path(link).extension() != ".md") {
        ImGui::SetClipboardText(link.c_str());
        return ui_->say(Severity::info, translatedFormat("Copied {}.", link), "Paste it into a browser.");
    }
    later_ = [this, link] {
        const Lesson from = desk_.open() == nullptr ? Lesson{} : desk_.open()->lesson();
        guarded([&] { openLesson(linkedLesson(from, link)); });
    };
}

void App::drawLessons() {
    if (desk_.list().empty()) ui_->muted("No lessons were found beside the program.");
    for (const LessonEntry& entry : desk_.list()) {
        const std::string name = "lesson/" + entry.name;
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float room = ImGui::GetContentRegionAvail().x;
        const float line = ImGui::GetTextLineHeight();
        const float height = 2 * line + ui_->px(14);
        if (ui_->tile(name.c_str(),
                      "Opens this lesson where you left it. Your own settings come back when you close it.",
                      {room, height}) &&
            entry.problem.empty()) {
            help_ = false;
            later_ = [this, file = entry.file] { guarded([&] { openLesson(file); }); };
        }
        if (ui_->hidden(name.c_str())) continue;
        ui_->explainItem({.title = entry.title, .text = entry.problem.empty() ? entry.about : entry.problem});
        ImDrawList& draw = *ImGui::GetWindowDrawList();
        if (ImGui::IsItemHovered())
            draw.AddRectFilled(at, {at.x + room, at.y + height}, ui_->theme.hovered, ui_->px(6));
        const std::optional<std::size_t> reached = desk_.reached(entry.name);
        const bool through = desk_.done(entry.name);
        const std::string right = through   ? std::string(translated("done"))
                                  : reached ? translatedFormat("step {} of {}", *reached + 1, entry.steps)
                                            : minutesText(entry.minutes);
        const float left = at.x + ui_->px(8);
        const float top = at.y + ui_->px(5);
        draw.AddText(ui_->fonts.strong, ImGui::GetFontSize(), {left, top}, ui_->theme.text,
                     entry.title.c_str());
        draw.AddText({at.x + room - textWidth(right) - ui_->px(8), top},
                     through ? ui_->theme.good : ui_->theme.muted, right.c_str());
        const std::string& about = entry.problem.empty() ? entry.about : entry.problem;
        draw.AddText({left, top + line + ui_->px(2)},
                     entry.problem.empty() ? ui_->theme.muted : ui_->theme.bad,
                     fittedText(about, room - ui_->px(16)).c_str());
    }
}

// Once, to somebody who is new here.
void App::drawOffer() {
    offerGone_ = offerGone_ || exhibit().running(); // something else was begun
    if (help_ || offerGone_ || desk_.open() != nullptr || !(desk_.offers() || desk_.left())) return;
    const std::filesystem::path goOn = desk_.left() ? desk_.left()->lesson : std::filesystem::path();
    const auto fits = [&](const LessonEntry& entry) {
        return entry.problem.empty() && (goOn.empty() || entry.file == goOn);
    };
    const auto found = std::ranges::find_if(desk_.list(), fits);
    if (found == desk_.list().end()) return;
    const LessonEntry& first = *found;
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({size.x - ui_->px(16), size.y - ui_->px(48)}, ImGuiCond_Always, {1, 1});
    ImGui::SetNextWindowSize({std::min(ui_->px(360), size.x - ui_->px(32)), 0});
    ImGui::PushStyleColor(ImGuiCol_WindowBg, ui_->theme.raised);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui_->px(16), ui_->px(14)});
    constexpr ImGuiWindowFlags flags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                       ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing;
    if (ImGui::Begin("offer", nullptr, flags)) {
        ui_->heading(goOn.empty() ? "New here?" : "Welcome back");
        const std::string time =
            first.minutes > 0 ? translatedFormat(" It takes {}.", minutesText(first.minutes)) : "";
        ui_->paragraph(goOn.empty() ? translatedFormat("Begin with the lesson \"{}\".{}", first.title, time)
                                    : translatedFormat("The lesson \"{}\" is not finished: step {} of {}.",
                                                       first.title, desk_.reached(first.name).value_or(0) + 1,
                                                       first.steps));
        if (ui_->primaryButton(goOn.empty() ? "Start the lesson##offer" : "Go on##offer",
                               goOn.empty() ? "Opens the first lesson."
                                            : "Opens the lesson at the step where you left it."))
            later_ = [this, file = first.file] { guarded([&] { openLesson(file); }); };
        ImGui::SameLine();
        if (ui_->button("No, thanks##offer",
                        "Closes this offer for good. Lessons, at the left, has the lessons."))
            desk_.decline();
    }
    ImGui::End();
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
}

} // namespace lockstep::demos
