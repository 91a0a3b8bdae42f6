// The menus, and the bar of commands below them.
#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "demos/draw/icons.h"
#include "demos/shell/app.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

// Explanations of what stands both in the bar and in the menus.
constexpr const char* runWords = "Starts training, or continues it (Space).";
constexpr const char* pauseWords = "Stops training between two steps; Run continues (Space).";
constexpr const char* kernelWords = "Kernel: runs the next operation of the step and then stops.";
constexpr const char* stepWords = "Step: trains on one batch and then stops (S).";
constexpr const char* epochWords = "Epoch: trains once on every training example and then stops.";
constexpr const char* resetWords = "Reset: returns to the first step with the same initial weights (R).";
constexpr const char* newWeightsWords =
    "New weights: returns to the first step with the next seed, so all weights are drawn anew.";
constexpr const char* detailsWords =
    "Opens or closes the panel on the right: what this exhibit shows, and numbers of what the mouse points "
    "at (D).";
constexpr const char* limitedWords = "Limits training to this many steps per second.";

struct NamedSpeed {
    const char* name;
    const char* words;
    Speed stepsPerSecond;
};

constexpr NamedSpeed speeds[] = {
    {"flat out", "Trains as fast as the machine can.", 0},
    {"300 steps/s", limitedWords, 300},
    {"60 steps/s", limitedWords, 60},
    {"10 steps/s", limitedWords, 10},
    {"3 steps/s", limitedWords, 3},
    {"1 step/s", limitedWords, 1},
};

constexpr float speedUnits = 128; // of the list of speeds

struct TransportButton {
    const char* label;
    const char* words;
    Icon icon;
    std::optional<StepUnit> unit; // of steps
    bool labelled = false;        // else the sign stands alone
};

// Beside Run. Labels stand there as far as there is room for them, from the left.
std::vector<TransportButton> transportButtons(const Ui& ui, const Exhibit& shown, float room) {
    std::vector<TransportButton> buttons{{"Kernel", kernelWords, Icon::kernel, StepUnit::kernel},
                                         {"Step", stepWords, Icon::step, StepUnit::batch},
                                         {"Epoch", epochWords, Icon::epoch, StepUnit::epoch},
                                         {"Reset", resetWords, Icon::reset, {}}};
    if (shown.trains()) buttons.push_back({"New weights", newWeightsWords, Icon::dice, {}});
    std::erase_if(buttons,
                  [&](const TransportButton& button) { return button.unit && !shown.canStep(*button.unit); });
    const ImGuiStyle& style = ImGui::GetStyle();
    const float sign = iconRoom(ui) + 2 * style.FramePadding.x + style.ItemSpacing.x;
    room -= std::max(textWidth("Run"), textWidth("Pause")) + sign * static_cast<float>(buttons.size() + 1) +
            ui.px(speedUnits) + style.ItemSpacing.x;
    // That a device is software is said in any case.
    if (ui.graphics.device().software()) room -= textWidth(describe(gpu::DeviceType::software)) + ui.px(34);
    for (TransportButton& button : buttons) {
        room -= textWidth(button.label);
        button.labelled = room >= 0;
    }
    return buttons;
}

} // namespace

void App::setSpeed(std::size_t exhibit, std::size_t index) {
    chosenSpeeds_[exhibits_[exhibit]->id()] = index;
    exhibits_[exhibit]->setSpeed(speeds[index].stepsPerSecond);
}

std::size_t App::shownSpeed() const {
    if (const auto chosen = chosenSpeeds_.find(exhibits_[shown_]->id()); chosen != chosenSpeeds_.end())
        return chosen->second;
    return flatOut_ ? 0 : speedIndex(exhibits_[shown_]->usualSpeed());
}

std::size_t App::speedIndex(Speed stepsPerSecond) {
    const auto found = std::ranges::find(speeds, stepsPerSecond, &NamedSpeed::stepsPerSecond);
    if (found == std::end(speeds))
        throw std::invalid_argument(
            fmt::format("the speed {} is not in the list: 0 is flat out, 60 is 60 steps/s", stepsPerSecond));
    return static_cast<std::size_t>(found - std::begin(speeds));
}

std::optional<Speed> App::chosenSpeed(std::size_t exhibit) const {
    const auto chosen = chosenSpeeds_.find(exhibits_[exhibit]->id());
    if (chosen == chosenSpeeds_.end()) return {};
    return speeds[chosen->second].stepsPerSecond;
}

void App::setFlatOut() {
    flatOut_ = true;
    for (const auto& entry : exhibits_) entry->setSpeed(0);
}

void App::drawMenus() {
    const auto noted = [this](const char* label, std::string_view words, bool used) {
        ui_->noteControl((std::string("menu/") + label).c_str(), words);
        return used;
    };
    const auto item = [&](const char* label, std::string_view words, const char* key, bool on = false,
                          bool enabled = true) {
        return noted(label, words, ImGui::MenuItem(translatedLabel(label).c_str(), key, on, enabled));
    };
    const auto menu = [&](const char* label, std::string_view words) {
        return noted(label, words, ImGui::BeginMenu(translatedLabel(label).c_str()));
    };
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui_->px(10), ui_->px(8)});
    if (ImGui::BeginMenuBar()) {
        drawFileMenu();
        if (menu("Edit", "Undoes and redoes changes.")) {
            const auto edit = [&](const char* label, std::string_view words, const char* ofHiding,
                                  const char* key, const EditHistory* history) {
                const std::string shown = translatedLabel(history == &hiding_ ? ofHiding : label);
                return noted(label, words, ImGui::MenuItem(shown.c_str(), key, false, history != nullptr));
            };
            if (edit("Undo",
                     "Takes back the last change of settings, points, layers, weights or hidden controls "
                     "(Ctrl+Z).",
                     "Undo hiding", "Ctrl+Z", undoHistory()))
                undo();
            if (edit("Redo", "Repeats the change that you undid (Ctrl+Y).", "Redo hiding", "Ctrl+Y",
                     redoHistory()))
                redo();
            ImGui::EndMenu();
        }
        if (menu("Run", "The commands of the top bar, and what else this exhibit can do.")) {
            if (item(exhibit().running() ? "Pause" : "Run", exhibit().running() ? pauseWords : runWords,
                     "Space"))
                toggleRun();
            const auto step = [&](const char* label, std::string_view words, const char* key, StepUnit unit) {
                if (item(label, words, key, false, exhibit().canStep(unit)))
                    command([&] { exhibit().step(*ui_, unit); });
            };
            step("Kernel", kernelWords, nullptr, StepUnit::kernel);
            step("Step", stepWords, "S", StepUnit::batch);
            step("Epoch", epochWords, nullptr, StepUnit::epoch);
            if (item("Reset", resetWords, "R")) command([this] { exhibit().reset(*ui_); });
            if (exhibit().trains() && item("New weights", newWeightsWords, nullptr))
                command([this] { exhibit().reroll(*ui_); });
            if (exhibit().trains() && menu("Speed", "Limits training to so many steps per second.")) {
                for (std::size_t i = 0; i < std::size(speeds); ++i)
                    if (item(speeds[i].name, speeds[i].words, nullptr, i == shownSpeed()))
                        setSpeed(shown_, i);
                ImGui::EndMenu();
            }
            ImGui::Separator();
            exhibit().drawMenu(*ui_);
            if (menu("Device",
                     "Lists the Vulkan devices with their limits; choose the one that draws and trains.")) {
                drawDeviceList("menu/device/");
                ImGui::EndMenu();
            }
            ImGui::EndMenu();
        }
        if (menu("Exhibits", "Switches to another exhibit.")) {
            int key = 0;
            for (const std::size_t i : listedExhibits())
                if (item(exhibits_[i]->title(), exhibits_[i]->words(), fmt::format("{}", ++key).c_str(),
                         i == shown_))
                    choose(*exhibits_[i]);
            ImGui::EndMenu();
        }
        if (menu("View", "Theme, size of the text, presenter mode, animations, and hidden controls.")) {
            if (item("Dark", "Light text on a dark background.", nullptr, ui_->theme.dark)) setDark(true);
            if (item("Light", "Dark text on a light background, for bright rooms.", nullptr,
                     !ui_->theme.dark))
                setDark(false);
            ImGui::Separator();
            if (item("Details", detailsWords, "D", ui_->detailsWanted)) toggleDetails();
            if (item("Presenter mode",
                     "Larger text and thicker lines. The list of exhibits goes; the menu and the number keys "
                     "have it.",
                     "P", ui_->presenter))
                ui_->presenter = !ui_->presenter;
            if (item("Full screen", "Fills the screen, or returns to a window.", "F11"))
                wishes_.fullScreen = true;
            if (item("Larger", "Enlarges everything by 10 %.", "Ctrl++")) setZoom(zoom_ * 1.1f);
            if (item("Smaller", "Shrinks everything by about 10 %.", "Ctrl+-")) setZoom(zoom_ / 1.1f);
            if (item("Normal size", "Returns to the size that suits this screen.", "Ctrl+0")) setZoom(1);
            if (item("Animations", "The selection mark slides to its new place instead of jumping.", nullptr,
                     ui_->animations))
                ui_->animations = !ui_->animations;
            if (menu("Language", "The language of the window and of the lessons that are translated.")) {
                drawLanguages();
                ImGui::EndMenu();
            }
            ImGui::Separator();
            if (item("Hide controls by clicking",
                     "Each click then hides a control or an exhibit, or brings it back. A state remembers "
                     "which are hidden.",
                     nullptr, ui_->hidingControls))
                ui_->hidingControls = !ui_->hidingControls;
            if (item("Show all controls", "Brings all hidden controls and exhibits back.", nullptr, false,
                     !ui_->hiddenControls.empty()))
                ui_->hiddenControls.clear();
            ImGui::EndMenu();
        }
        if (menu("Help", "The keys, the glossary, and what this machine can do.")) {
            if (item("Lessons", lessonsWords, nullptr)) help_ = true, helpPage_ = lessonsPage, desk_.look();
            if (item("Keys", "Lists the keyboard shortcuts.", "F1")) help_ = true, helpPage_ = 0;
            if (item("Glossary", "Explains the terms that this window uses.", nullptr))
                help_ = true, helpPage_ = 1;
            if (item("My machine",
                     "Measures the processor and the graphics card, and puts the results on one page.",
                     nullptr))
                help_ = true, helpPage_ = machinePage;
            ImGui::EndMenu();
        }
        ImGui::EndMenuBar();
    }
    ImGui::PopStyleVar();
}

// By their own names, which speakers of each find whatever is shown now.
void App::drawLanguages() {
    if (languages_.empty()) languages_ = findLanguages();
    for (const LanguageEntry& entry : languages_) {
        const bool spoken = entry.code == spokenLanguage();
        if (ImGui::MenuItem(entry.name.c_str(), nullptr, spoken) && !spoken)
            later_ = [this, code = entry.code] { guarded([&] { setLanguage(code); }); };
        ui_->noteControl(("menu/Language/" + entry.code).c_str(),
                         "Shows the window, and lessons where they are translated, in this language.");
    }
}

void App::drawTransport() {
    const Theme& theme = ui_->theme;
    const ImVec2 padding{ui_->px(16), ui_->px(8)};
    const float height = ImGui::GetFrameHeight() + 2 * padding.y;
    ImGui::SetCursorPos({0, ImGui::GetFrameHeight()}); // right below the menus
    ImGui::PushStyleColor(ImGuiCol_ChildBg, theme.panel);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, padding);
    ImGui::PushStyleVar(ImGuiStyleVar_ChildRounding, 0);
    ImGui::BeginChild("transport", {0, height}, false,
                      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_AlwaysUseWindowPadding);
    ImGui::PopStyleVar(2);
    Exhibit& shown = exhibit();
    // One of the first things that a newcomer looks for; a sign alone says too little, where there is room.
    const bool named = ImGui::GetIO().DisplaySize.x >= ui_->px(1100);
    const float details =
        ImGui::GetContentRegionMax().x - iconButtonWidth(*ui_, "Details", {.signOnly = !named});
    const float room = details - ImGui::GetCursorPosX() - ImGui::GetStyle().ItemSpacing.x;
    const bool running = shown.running();
    if (iconButton(*ui_, running ? "Pause" : "Run", running ? pauseWords : runWords,
                   running ? Icon::pause : Icon::run, {.primary = shown.trains()}))
        toggleRun();
    for (const TransportButton& button : transportButtons(*ui_, shown, room)) {
        ImGui::SameLine();
        if (!iconButton(*ui_, button.label, button.words, button.icon, {.signOnly = !button.labelled}))
            continue;
        command([&] {
            if (button.unit)
                shown.step(*ui_, *button.unit);
            else if (button.icon == Icon::reset)
                shown.reset(*ui_);
            else
                shown.reroll(*ui_);
        });
    }
    ImGui::SameLine();
    if (shown.trains()) {
        const float speedRoom = padding.x + room - ImGui::GetCursorPosX();
        ImGui::SetNextItemWidth(std::clamp(speedRoom, ui_->px(48), ui_->px(speedUnits)));
        std::vector<std::string> names;
        for (const NamedSpeed& speed : speeds) names.emplace_back(speed.name);
        std::size_t chosen = shownSpeed();
        if (ui_->combo("##speed",
                       "Training speed, in steps/s. \"Flat out\" trains as fast as the machine can.", chosen,
                       names))
            setSpeed(shown_, chosen);
        ImGui::SameLine();
    }
    drawDevice(ImGui::GetCursorPosX() + ui_->px(8), padding.x + room);
    ImGui::SameLine(details);
    if (iconButton(*ui_, "Details", detailsWords, Icon::panel,
                   {.primary = ui_->detailsWanted, .signOnly = !named}))
        toggleDetails();
    ImGui::EndChild();
    ImGui::PopStyleColor();
}

void App::showRecording(std::optional<double> seconds) {
    // The sign's clock goes on also where nothing else moves.
    if (seconds.has_value() != recordedSeconds_.has_value() ||
        std::floor(seconds.value_or(0)) != std::floor(recordedSeconds_.value_or(0)))
        settle_ = std::max(settle_, 1);
    recordedSeconds_ = seconds;
}

// At the right end of the menus, as a window of its own, which has a list of drawing commands of its own.
void App::drawRecordingSign() {
    sign_ = nullptr;
    if (!recordedSeconds_) return;
    const std::string time = clockTime(std::floor(*recordedSeconds_));
    const float height = ImGui::GetFrameHeight();
    const ImVec2 size{height + textWidth(time), height};
    const ImVec2 start{ImGui::GetIO().DisplaySize.x - size.x - ui_->px(16), 0};
    ImGui::SetNextWindowPos(start);
    ImGui::SetNextWindowSize(size);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
    ImGui::Begin("recording", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoBackground |
                     ImGuiWindowFlags_NoFocusOnAppearing);
    ImGui::PopStyleVar(2);
    if (ui_->tile("Stop recording", stopRecordingWords, size)) wishes_.record = true;
    sign_ = ImGui::GetWindowDrawList();
    const ImU32 colour = ImGui::IsItemHovered() ? ui_->theme.text : ui_->theme.bad;
    sign_->AddCircleFilled({start.x + height / 2, height / 2}, height / 6, colour);
    sign_->AddText({start.x + height, (height - ImGui::GetTextLineHeight()) / 2}, colour, time.c_str());
    ImGui::End();
}

} // namespace lockstep::demos
