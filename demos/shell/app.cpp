#include "demos/shell/app.h"

#include <cmath>
#include <iterator>
#include <map>
#include <stdexcept>
#include <system_error>
#include <thread>

#include <GLFW/glfw3.h>
#include <fmt/format.h>

#include "demos/draw/icons.h"
#include "demos/kit/assets.h"
#include "demos/lesson/lesson_file.h"
#include "demos/shell/guarded.h"
#include "demos/shell/state_file.h"
#include "demos/words/text.h"
#include "engine/cpu/cpu_info.h"
#include "engine/files/json_field.h"

namespace lockstep::demos {

namespace {

using nlohmann::ordered_json;

constexpr float bodyUnits = 16;

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
    "Opens or closes the panel on the right: what this exhibit shows, and the values under the pointer (D).";

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

App::App(Graphics& graphics, Machines& machines, std::vector<std::unique_ptr<Exhibit>> exhibits)
    : exhibits_(std::move(exhibits)) {
    IMGUI_CHECKVERSION();
    openContext();
    ui_ = std::make_unique<Ui>(graphics, machines);
    input_ = std::make_unique<InputQueue>();
}

App::~App() {
    guide_.desk().save();
    exhibits_.clear();
    ui_.reset();
    closeContext();
}

void App::openContext() {
    context_ = ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.LogFilename = nullptr;
    io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    if (contextSetUp_) contextSetUp_();
}

// Also in the middle of a frame, which ImGui must end.
void App::closeContext() {
    if (context_ != nullptr) ImGui::DestroyContext(context_);
    context_ = nullptr;
    sign_ = nullptr;
    bakedPixels_ = 0;
    settle_ = 3;
}

const ImDrawData& App::frame(std::uint32_t width, std::uint32_t height, float displayScale, double seconds) {
    while (true) try {
            drawFrame(width, height, displayScale, seconds);
            return *ImGui::GetDrawData();
        } catch (const gpu::DeviceLostError&) {
            throw; // the owner recreates everything
        } catch (const std::exception& error) {
            if (abandoned_ >= mostAbandoned) throw; // not even the message can be drawn
            abandonFrame(error.what());
            seconds = 0;
        }
}

void App::abandonFrame(const char* why) {
    ++abandoned_;
    closeContext();
    openContext();
    *input_ = InputQueue();
    if (ui_->messages.empty() || ui_->messages.back().text != why) ui_->say(Severity::error, why);
}

void App::drawFrame(std::uint32_t width, std::uint32_t height, float displayScale, double seconds) {
    if (later_) std::exchange(later_, nullptr)();
    fitLetters(height, displayScale);
    settle_ = input_->empty() ? std::max(settle_ - 1, 0) : 3;
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
    io.DeltaTime = std::max(static_cast<float>(seconds), 1e-4f);
    const std::vector<KeyPress> pressed = input_->feed();
    const bool typing = io.WantTextInput;
    ui_->beginFrame();
    ImGui::NewFrame();
    if (abandoned_ < mostAbandoned)
        drawWindow(pressed, typing, seconds);
    else
        drawFailure();
    ImGui::Render();
    if (abandoned_ < mostAbandoned) abandoned_ = 0;
    grantPicture();
    grantExhibit();
}

// Letters are at least a fiftieth of the window's height. From the back row, a thirty-third can be read: a
// larger window then shows more, not the same in larger letters.
void App::fitLetters(std::uint32_t height, float displayScale) {
    const float usual = bodyUnits * displayScale * (ui_->presenter ? 1.7f : 1.0f);
    const float comfortable = std::max(usual, static_cast<float>(height) / (ui_->presenter ? 33.0f : 50.0f));
    const float pixels = std::clamp(std::round(comfortable * zoom_), 8.0f, 96.0f);
    if (pixels == bakedPixels_ && ui_->theme.dark == bakedDark_) return;
    if (pixels != bakedPixels_) ui_->fonts = bakeFonts(ui_->graphics, pixels, letters_);
    bakedPixels_ = pixels;
    bakedDark_ = ui_->theme.dark;
    ui_->scale = pixels / bodyUnits;
    applyTheme(ui_->theme, ui_->scale);
}

// Nothing but what went wrong, until a person goes on.
void App::drawFailure() {
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
    ImGui::Begin("failure", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove);
    ui_->heading("The window cannot be drawn.");
    ui_->paragraph(ui_->messages.back().text, ui_->theme.bad);
    ui_->paragraph("Settings and results are kept.");
    if (ui_->primaryButton("Try again", saysItself)) abandoned_ = 0;
    ImGui::End();
}

void App::drawWindow(const std::vector<KeyPress>& pressed, bool typing, double seconds) {
    for (const KeyPress& press : pressed)
        if (!typing || press.control || press.key == GLFW_KEY_TAB || press.key == GLFW_KEY_F1)
            handleKey(press);

    update(seconds);
    devices_.update(*ui_);
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
    constexpr ImGuiWindowFlags whole = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                       ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_MenuBar |
                                       ImGuiWindowFlags_NoScrollWithMouse;
    ImGui::Begin("Lockstep", nullptr, whole);
    ImGui::PopStyleVar(2);
    drawMenus();
    drawTransport();
    drawMiddle();
    drawStatusLine(*ui_);
    ImGui::End();
    drawRecordingSign();
    if (help_.isOpen())
        openLater(help_.draw(*ui_, guide_.desk()));
    else if (lessonIsHere() && !guide_.standsInstead())
        drawLessonRing(*ui_, *guide_.open());
    openLater(guide_.drawOffer(*ui_, exhibit().running(), help_.isOpen()));
    ui_->drawExplanation();
    grantSaving();
    grant(files_.drawChooser(*ui_));
    if (settle_ > 0) noteEdits(); // without input, no person has changed anything
    grantPreview();
}

// What could not be done is of no interest any more once something else was changed.
void App::noteEdits() {
    const bool held = ImGui::IsAnyItemActive() || ImGui::IsAnyMouseDown();
    EditHistory& edits = exhibit().edits();
    const std::uint64_t before = edits.undoable();
    edits.note(held);
    hiding_.note(held);
    if (edits.undoable() <= before || ui_->messages.empty()) return;
    if (ui_->messages.back().time < ui_->now) ui_->dismissFailure();
}

void App::update(double seconds) {
    ui_->delta = seconds;
    ui_->now += seconds;
    guarded(*ui_, [this] { exhibit().update(*ui_); });
    sound_.update(*ui_, exhibit());
    lookAtLesson();
    followLink();
}

bool App::wantsFrame() const {
    // A key that is held repeats itself by ImGui's clock, which stands still between frames.
    const bool repeating = input_->keyHeld() && ImGui::GetIO().WantTextInput;
    return settle_ > 0 || repeating || !input_->empty() || devices_.listing() || ui_->explanationPending() ||
           ui_->easing() || exhibits_.shown().moving() || sound_.news() ||
           (lessonIsHere() && guide_.clockMoves(*ui_));
}

std::string App::releaseDevice() {
    std::string costs;
    exhibits_.forAll([&](Exhibit& entry) {
        if (const std::string cost = entry.releaseDevice(); !cost.empty())
            costs += (costs.empty() ? "" : " ") + cost;
    });
    letters_.reset();
    guide_.releaseDevice();
    closeContext();
    return costs;
}

void App::attachDevice() {
    openContext();
    *input_ = InputQueue(); // in its place: windows know it
    devices_.forgetList();
    // The device may have been lost while a lesson's step was being set up.
    if (guide_.stepPending()) later_ = [this] { showStep(); };
}

void App::handleKey(const KeyPress& press) {
    settle_ = 3;
    if (files_.takeKey(press.key == GLFW_KEY_ESCAPE, press.key == GLFW_KEY_ENTER)) return;
    if (press.control) {
        if (press.key == GLFW_KEY_O) files_.ask(*ui_, FileChooser::Purpose::open);
        if (press.key == GLFW_KEY_S)
            press.shift ? files_.ask(*ui_, FileChooser::Purpose::save) : saveState({});
        if (press.key == GLFW_KEY_EQUAL || press.key == GLFW_KEY_KP_ADD) setZoom(zoom_ * 1.1f);
        if (press.key == GLFW_KEY_MINUS || press.key == GLFW_KEY_KP_SUBTRACT) setZoom(zoom_ / 1.1f);
        if (press.key == GLFW_KEY_0) setZoom(1);
        if (press.key == GLFW_KEY_Q) wishes_.quit = true;
        if (help_.isOpen() || ImGui::GetIO().WantTextInput) return; // a text field has an undo of its own
        const bool again = press.key == GLFW_KEY_Y || (press.key == GLFW_KEY_Z && press.shift);
        if (again)
            redo();
        else if (press.key == GLFW_KEY_Z)
            undo();
        return;
    }
    if (press.alt) {
        if (press.key == GLFW_KEY_LEFT) exhibit().travel(*ui_, Travel::back);
        if (press.key == GLFW_KEY_RIGHT) exhibit().travel(*ui_, Travel::forward);
        return;
    }
    const bool ofHelp = press.key == GLFW_KEY_F1 || press.key == GLFW_KEY_ESCAPE ||
                        press.key == GLFW_KEY_TAB || press.key == GLFW_KEY_P;
    if (help_.isOpen() && !ofHelp) return; // what a key would do is behind the page
    switch (press.key) {
    case GLFW_KEY_PAGE_UP: turnLesson(-1); return;
    case GLFW_KEY_PAGE_DOWN: turnLesson(1); return;
    case GLFW_KEY_SPACE:
        // With a widget in the keyboard's focus, ImGui presses that.
        if (!ImGui::GetIO().NavVisible) toggleRun();
        return;
    case GLFW_KEY_TAB: ui_->moveFocus(press.shift ? -1 : 1); return;
    case GLFW_KEY_S:
        command([this] {
            if (exhibit().canStep(StepUnit::batch)) exhibit().step(*ui_, StepUnit::batch);
        });
        return;
    case GLFW_KEY_R: command([this] { exhibit().reset(*ui_); }); return;
    case GLFW_KEY_P: ui_->presenter = !ui_->presenter; return;
    case GLFW_KEY_D: toggleDetails(); return;
    case GLFW_KEY_F1: help_.toggle(); return;
    case GLFW_KEY_F11: wishes_.fullScreen = true; return;
    case GLFW_KEY_F12: // no menu is in the way
        if (press.shift)
            placeRecording();
        else
            placePicture({});
        if (picture_) wishes_.picture = std::exchange(picture_, std::nullopt);
        if (record_) wishes_.record = std::exchange(record_, std::nullopt);
        ui_->unseen = false; // the picture is of this very frame
        return;
    case GLFW_KEY_ESCAPE:
        help_.close();
        ui_->hidingControls = false;
        return;
    default: break;
    }
    if (press.key >= GLFW_KEY_0 && press.key <= GLFW_KEY_9 && lessonIsHere() &&
        guide_.typeDigit(static_cast<char>(press.key)))
        return;
    if (press.key >= GLFW_KEY_1 && press.key <= GLFW_KEY_9) {
        if (exhibit().takeDigit(press.key - GLFW_KEY_1 + 1)) return;
        const auto index = static_cast<std::size_t>(press.key - GLFW_KEY_1);
        const std::vector<std::size_t> entries = exhibits_.entries(*ui_);
        if (ui_->typeDigit(static_cast<char>(press.key))) return;
        if (index < entries.size()) choose(exhibits_[entries[index]]);
    }
}

void App::drawMenus() {
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui_->px(10), ui_->px(8)});
    if (ImGui::BeginMenuBar()) {
        grant(files_.draw(*ui_, exhibits_.all(), recordedSeconds_.has_value()));
        drawEditMenu();
        drawRunMenu();
        drawExhibitMenu();
        drawViewMenu();
        drawHelpMenu();
        ImGui::EndMenuBar();
    }
    ImGui::PopStyleVar();
}

void App::drawEditMenu() {
    if (!ui_->menu("Edit", "Undoes and redoes changes.")) return;
    const auto edit = [&](const char* label, std::string_view words, const char* ofHiding, const char* key,
                          const EditHistory* history) {
        const std::string shown = translatedLabel(history == &hiding_ ? ofHiding : label);
        return ui_->noteMenu(label, words, ImGui::MenuItem(shown.c_str(), key, false, history != nullptr));
    };
    if (edit("Undo",
             "Takes back the last change of settings, points, layers, weights or hidden controls "
             "(Ctrl+Z).",
             "Undo hiding", "Ctrl+Z", undoHistory()))
        undo();
    if (edit("Redo", "Repeats the change that you undid (Ctrl+Y).", "Redo hiding", "Ctrl+Y", redoHistory()))
        redo();
    ImGui::EndMenu();
}

void App::drawRunMenu() {
    if (!ui_->menu("Run", "The commands of the top bar, and what else this exhibit can do.")) return;
    if (ui_->menuItem(exhibit().running() ? "Pause" : "Run", exhibit().running() ? pauseWords : runWords,
                      "Space"))
        toggleRun();
    const auto step = [&](const char* label, std::string_view words, const char* key, StepUnit unit) {
        if (ui_->menuItem(label, words, key, false, exhibit().canStep(unit)))
            command([&] { exhibit().step(*ui_, unit); });
    };
    step("Kernel", kernelWords, nullptr, StepUnit::kernel);
    step("Step", stepWords, "S", StepUnit::batch);
    step("Epoch", epochWords, nullptr, StepUnit::epoch);
    if (ui_->menuItem("Reset", resetWords, "R")) command([this] { exhibit().reset(*ui_); });
    if (exhibit().trains() && ui_->menuItem("New weights", newWeightsWords, nullptr))
        command([this] { exhibit().reroll(*ui_); });
    if (exhibit().trains() && ui_->menu("Speed", "Limits training to so many steps per second.")) {
        for (std::size_t i = 0; i < std::size(speedTable); ++i)
            if (ui_->menuItem(speedTable[i].name, speedTable[i].words, nullptr, i == exhibits_.shownSpeed()))
                exhibits_.setSpeed(exhibits_.shownIndex(), i);
        ImGui::EndMenu();
    }
    ImGui::Separator();
    exhibit().drawMenu(*ui_);
    if (ui_->menu("Device",
                  "Lists the Vulkan devices with their limits; choose the one that draws and trains.")) {
        follow(devices_.drawList(*ui_, "menu/device/"));
        ImGui::EndMenu();
    }
    ImGui::EndMenu();
}

void App::drawExhibitMenu() {
    if (!ui_->menu("Exhibits", "Switches to another exhibit.")) return;
    const std::vector<std::size_t> entries = exhibits_.entries(*ui_);
    for (const std::size_t i : exhibits_.listed(*ui_)) {
        const auto entry = std::ranges::find(entries, i);
        const std::string key =
            entry == entries.end() ? std::string() : std::to_string(entry - entries.begin() + 1);
        if (ui_->menuItem(exhibits_[i].title(), exhibits_[i].words(), key.c_str(),
                          i == exhibits_.shownIndex()))
            choose(exhibits_[i]);
    }
    ImGui::EndMenu();
}

void App::drawViewMenu() {
    if (!ui_->menu("View",
                   "Theme, size of the text, presenter mode, animations, sound, and hidden controls."))
        return;
    if (ui_->menuItem("Dark", "Light text on a dark background.", nullptr, ui_->theme.dark)) setDark(true);
    if (ui_->menuItem("Light", "Dark text on a light background, for bright rooms.", nullptr,
                      !ui_->theme.dark))
        setDark(false);
    ImGui::Separator();
    if (ui_->menuItem("Details", detailsWords, "D", ui_->detailsWanted)) toggleDetails();
    if (ui_->menuItem("Presenter mode",
                      "Larger text and thicker lines. Hides the exhibit list; switch by menu or number keys.",
                      "P", ui_->presenter))
        ui_->presenter = !ui_->presenter;
    if (ui_->menuItem("Full screen", "Fills the screen, or returns to a window.", "F11"))
        wishes_.fullScreen = true;
    if (ui_->menuItem("Larger", "Enlarges everything by 10 %.", "Ctrl++")) setZoom(zoom_ * 1.1f);
    if (ui_->menuItem("Smaller", "Shrinks everything by about 10 %.", "Ctrl+-")) setZoom(zoom_ / 1.1f);
    if (ui_->menuItem("Normal size", "Returns to the size that suits this screen.", "Ctrl+0")) setZoom(1);
    if (ui_->menuItem("Animations", "The selection mark slides to its new place instead of jumping.", nullptr,
                      ui_->animations))
        ui_->animations = !ui_->animations;
    sound_.drawMenu(*ui_);
    if (ui_->menu("Language", "The language of the window and of the lessons that are translated.")) {
        drawLanguages();
        ImGui::EndMenu();
    }
    ImGui::Separator();
    if (ui_->menuItem("Hide controls by clicking",
                      "Each click then hides a control or an exhibit, or brings it back. A state remembers "
                      "which are hidden.",
                      nullptr, ui_->hidingControls))
        ui_->hidingControls = !ui_->hidingControls;
    if (ui_->menuItem("Show all controls", "Brings all hidden controls and exhibits back.", nullptr, false,
                      !ui_->hiddenControls.empty()))
        ui_->hiddenControls.clear();
    ImGui::EndMenu();
}

void App::drawHelpMenu() {
    if (!ui_->menu("Help", "The lessons, the keys, the glossary, and about Lockstep.")) return;
    if (ui_->menuItem("Lessons", lessonsWords, nullptr)) openHelp(HelpPage::lessons);
    if (ui_->menuItem("Keys", "Lists the keyboard shortcuts.", "F1")) openHelp(HelpPage::keys);
    if (ui_->menuItem("Glossary", "Explains the terms that this window uses.", nullptr))
        openHelp(HelpPage::glossary);
    if (ui_->menuItem("About", "Shows the version, and the libraries inside with their licences.", nullptr))
        openHelp(HelpPage::about);
    ImGui::EndMenu();
}

// By their own names, which speakers of each find whatever is shown now.
void App::drawLanguages() {
    if (languages_.empty()) languages_ = findLanguages();
    for (const LanguageEntry& entry : languages_) {
        const bool spoken = entry.code == spokenLanguage();
        if (ImGui::MenuItem(entry.name.c_str(), nullptr, spoken) && !spoken)
            later_ = [this, code = entry.code] { command([&] { setLanguage(code); }); };
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
        for (const NamedSpeed& speed : speedTable) names.emplace_back(speed.name);
        std::size_t chosen = exhibits_.shownSpeed();
        if (ui_->combo("##speed",
                       "Training speed, in steps/s. \"Flat out\" trains as fast as the machine can.", chosen,
                       names))
            exhibits_.setSpeed(exhibits_.shownIndex(), chosen);
        ImGui::SameLine();
    }
    follow(devices_.drawButton(*ui_, ImGui::GetCursorPosX() + ui_->px(8), padding.x + room));
    ImGui::SameLine(details);
    if (iconButton(*ui_, "Details", detailsWords, Icon::panel,
                   {.primary = ui_->detailsWanted, .signOnly = !named}))
        toggleDetails();
    ImGui::EndChild();
    ImGui::PopStyleColor();
}

void App::drawMiddle() {
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    const float top = ImGui::GetCursorPosY() - ImGui::GetStyle().ItemSpacing.y;
    const float height = std::max(1.0f, display.y - top - statusLineRoom(*ui_));
    ui_->detailsWanted = detailsChosen_.value_or(lessonIsHere());
    const SidePanels sides = sidePanels(*ui_);
    const float left = sides.list;
    const float right = sides.details;
    ui_->detailPanel = right > 0;
    const auto part = [&](const char* id, float from, float width, bool side, ImVec2 padding, auto draw) {
        ImGui::SetCursorPos({from, top});
        ImGui::PushStyleColor(ImGuiCol_ChildBg, side ? ui_->theme.panel : ImU32{0});
        ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, padding);
        ImGui::PushStyleVar(ImGuiStyleVar_ChildRounding, 0);
        // A scroll bar that comes must not wrap the text anew.
        if (side && id == std::string_view("details"))
            ImGui::SetNextWindowContentSize(
                {std::max(1.0f, width - 2 * padding.x - ImGui::GetStyle().ScrollbarSize), 0});
        ImGui::BeginChild(id, {std::max(1.0f, width), height}, false,
                          ImGuiWindowFlags_AlwaysUseWindowPadding);
        ImGui::PopStyleVar(2);
        ImGui::PopStyleColor();
        draw();
        ImGui::EndChild();
    };
    const ImVec2 wide{ui_->px(16), ui_->px(14)};
    const auto drawExhibits = [this] {
        const bool inLesson = guide_.open() != nullptr && !guide_.open()->lesson().name.empty();
        const auto [exhibit, lessons] = exhibits_.draw(*ui_, inLesson);
        // Not while the one that is shown is being drawn.
        if (exhibit) later_ = [this, index = *exhibit] { choose(exhibits_[index]); };
        if (lessons) openHelp(HelpPage::lessons);
    };
    if (left > 0) part("exhibits", 0, left, true, {ui_->px(6), ui_->px(12)}, drawExhibits);
    ui_->lessonAsks = lessonIsHere() && guide_.open()->step().ask && !guide_.open()->ended();
    part("exhibit", left, display.x - left - right, false, wide, [&] {
        if (right == 0) drawLessonPart(false);
        exhibitPlace_.min = ImGui::GetCursorScreenPos();
        const ImVec2 room = ImGui::GetContentRegionAvail();
        exhibitPlace_.max = {exhibitPlace_.min.x + room.x, exhibitPlace_.min.y + room.y};
        std::optional<std::filesystem::path> next;
        if (!lessonIsHere() || !guide_.drawInstead(*ui_, next)) {
            if (const auto other = exhibits_.drawShared(*ui_)) // not while this one is being drawn
                later_ = [this, index = *other] { choose(exhibits_[index]); };
            exhibit().draw(*ui_);
        }
        openLater(next);
        goToStep(guide_.takeStep());
    });
    ui_->prose = 0;
    ui_->lessonShown = lessonIsHere();
    if (right > 0) part("details", display.x - right, right, true, wide, [this] { drawDetails(); });
    ImGui::SetCursorPos({0, top + height});
}

void App::drawLessonPart(bool inSidePanel) {
    if (guide_.open() == nullptr) return;
    if (!lessonIsHere()) { // a task is not about another exhibit
        if (ui_->button("Back to the lesson", "Shows the exhibit that the step is about."))
            later_ = [this] { showExhibit(guide_.exhibit()); };
        return;
    }
    const LessonPress press = guide_.draw(*ui_, inSidePanel);
    if (press != LessonPress::none) settle_ = 3;
    switch (press) {
    case LessonPress::close: later_ = [this] { closeLesson(); }; break;
    case LessonPress::next: turnLesson(1); break;
    case LessonPress::back: turnLesson(-1); break;
    case LessonPress::none: break;
    }
}

void App::drawDetails() {
    drawLessonPart(true);
    if (!ui_->hovered) {
        if (!lessonIsHere() || !guide_.standsInstead()) exhibit().drawDetails(*ui_);
        return;
    }
    const Detail& detail = *ui_->hovered;
    ImGui::PushFont(ui_->fonts.strong);
    ui_->paragraph(detail.title);
    ImGui::PopFont();
    if (!detail.formula.empty()) {
        ImGui::PushFont(ui_->fonts.mono);
        ui_->paragraph(detail.formula, ui_->theme.text);
        ImGui::PopFont();
    }
    ImGui::Dummy({0, ui_->px(2)});
    for (const auto& [name, value] : detail.values) ui_->row(name, value);
    if (!detail.text.empty()) ui_->paragraph(detail.text);
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
    if (ui_->tile("Stop recording", stopRecordingWords, size)) wishes_.record.emplace();
    sign_ = ImGui::GetWindowDrawList();
    const ImU32 colour = ImGui::IsItemHovered() ? ui_->theme.text : ui_->theme.bad;
    sign_->AddCircleFilled({start.x + height / 2, height / 2}, height / 6, colour);
    sign_->AddText({start.x + height, (height - ImGui::GetTextLineHeight()) / 2}, colour, time.c_str());
    ImGui::End();
}

// The request often comes from a menu, which must not be in the picture.
void App::grantPicture() {
    if (ui_->pictureWish) placePicture(*std::exchange(ui_->pictureWish, std::nullopt));
    if (!picture_ && !record_) return;
    constexpr int framesToClose = 2;
    settle_ = 3;
    if (pictureWaits_++ < framesToClose) return;
    pictureWaits_ = 0;
    if (picture_) wishes_.picture = std::exchange(picture_, std::nullopt);
    if (record_) wishes_.record = std::exchange(record_, std::nullopt);
}

void App::placeFile(const std::string& name, std::function<void(const std::filesystem::path&)> write) {
    if (const std::filesystem::path& folder = files_.chosenFolder(); !folder.empty())
        return write(folder / name);
    files_.askFor(*ui_, {name, std::move(write)});
}

void App::placePicture(const PictureWish& wish) {
    if (ui_->scripted) {
        picture_ = wish;
        return;
    }
    const std::filesystem::path proposed = wish.file;
    placeFile(proposed.empty() ? nameWithTime("png") : proposed.filename().string(),
              [this, area = wish.area](const std::filesystem::path& file) {
                  picture_ = PictureWish{file.string(), area};
              });
}

void App::placeRecording() {
    if (ui_->scripted || recordedSeconds_)
        record_.emplace(); // one that is under way has its file
    else
        placeFile(nameWithTime("webp"), [this](const std::filesystem::path& file) { record_ = file; });
}

void App::grantSaving() {
    if (!ui_->saveWish) return;
    SaveWish wish = *std::exchange(ui_->saveWish, std::nullopt);
    settle_ = 3;
    if (ui_->scripted)
        guarded(*ui_, [&] { wish.write(wish.name); });
    else
        files_.askFor(*ui_, std::move(wish));
}

// Of the exhibit that a person has just come to, in a window that shows it as it is.
void App::grantPreview() {
    if (ui_->scripted || ui_->masked || guide_.open() != nullptr) return;
    Exhibit& shown = exhibit();
    if (previewed_.contains(shown.id())) return;
    const auto works = [this](const auto& entry) { // one that was never shown has only not begun
        return entry->running() || (previewed_.contains(entry->id()) && entry->timesProcessor());
    };
    if (!shown.running() && std::ranges::any_of(exhibits_.all(), works)) return;
    previewed_.insert(shown.id());
    if (!shown.running()) guarded(*ui_, [&] { shown.preview(*ui_); });
    settle_ = 3;
}

// Once nothing of this frame is being drawn any more.
void App::grantExhibit() {
    if (!ui_->exhibitWish) return;
    const ExhibitWish wish = *std::exchange(ui_->exhibitWish, std::nullopt);
    settle_ = 3;
    command([&] {
        const auto found = std::ranges::find(exhibits_.all(), wish.id, &Exhibit::id);
        if (found == exhibits_.all().end())
            throw std::invalid_argument(fmt::format("there is no exhibit '{}'", wish.id));
        const auto bringBack = (*found)->readState(ordered_json::parse(wish.state));
        showExhibit(wish.id);
        bringBack();
    });
}

// The later of two: the history of what is shown, and that of what is hidden.
EditHistory* App::undoHistory() {
    EditHistory& shown = exhibit().edits();
    EditHistory& latest = hiding_.undoable() > shown.undoable() ? hiding_ : shown;
    return latest.undoable() > 0 ? &latest : nullptr;
}

EditHistory* App::redoHistory() {
    EditHistory& shown = exhibit().edits();
    const bool hidingFirst =
        hiding_.redoable() > 0 && (shown.redoable() == 0 || hiding_.redoable() < shown.redoable());
    EditHistory& first = hidingFirst ? hiding_ : shown;
    return first.redoable() > 0 ? &first : nullptr;
}

void App::undo() {
    if (EditHistory* history = undoHistory()) command([history] { history->undo(); });
}

void App::redo() {
    if (EditHistory* history = redoHistory()) command([history] { history->redo(); });
}

void App::command(const std::function<void()>& action) {
    ui_->dismissMessages();
    guarded(*ui_, action);
}

void App::choose(const Exhibit& entry) {
    ui_->dismissMessages();
    showExhibit(entry.id());
}

void App::toggleRun() {
    command([this] {
        if (exhibit().running())
            exhibit().pause();
        else
            exhibit().run(*ui_);
    });
}

void App::toggleDetails() {
    const bool wanted = !ui_->detailsWanted || !ui_->detailPanel;
    detailsChosen_ = wanted == lessonIsHere() ? std::nullopt : std::optional(wanted);
    ui_->detailsWanted = wanted;
    if (wanted && sidePanels(*ui_).details == 0)
        ui_->say(Severity::info, "The window is too narrow for the details.",
                 "Numbers stand beside the pointer.");
}

void App::grant(const FileWish& wish) {
    if (wish.open) later_ = [this, file = *wish.open] { openFile(file); };
    if (wish.save) saveState({});
    if (wish.record) placeRecording();
    if (wish.write) later_ = [this, write = wish.write] { command(write); };
    if (wish.quit) wishes_.quit = true;
    if (wish.open || wish.save || wish.write) settle_ = 3;
}

void App::follow(const std::optional<DeviceWish>& device) {
    if (device) wishes_.device = device;
}

void App::openHelp(HelpPage page) {
    if (page == HelpPage::lessons) guide_.desk().look();
    help_.open(page);
}

void App::openFile(const std::filesystem::path& file) {
    settle_ = 3;
    const std::size_t said = ui_->messages.size();
    try {
        if (file.extension() == ".json")
            openState(file);
        else if (file.extension() == ".md")
            openLesson(file);
        else if (const std::string name = shownName(file); name != file.string())
            ui_->say(Severity::error,
                     translatedFormat("{}: the file name is not UTF-8, so a state could not store it.", name),
                     "Rename the file and drop it again.");
        else if (!exhibit().dropFile(*ui_, file))
            ui_->say(Severity::warning,
                     translatedFormat("{}: this exhibit cannot read this kind of file.", name),
                     "States end in .json, lessons in .md, tables in .csv, pictures in .png.");
        else
            files_.noteOpened(file);
        if (ui_->messages.size() == said) ui_->dismissFailure();
    } catch (const std::exception& error) {
        ui_->say(Severity::error, error.what());
    }
}

void App::saveState(const std::filesystem::path& file) {
    const std::filesystem::path target = file.empty() ? files_.stateFile() : file;
    try {
        writeStateFile(target, state());
        files_.noteOpened(target);
        ui_->dismissFailure();
        ui_->say(Severity::info,
                 translatedFormat("State saved to {}", std::filesystem::absolute(target).string()),
                 "Drop the file onto the window to bring it back.");
    } catch (const std::exception& error) {
        ui_->say(Severity::error, error.what());
    }
}

void App::openState(const std::filesystem::path& file) {
    setState(readStateFile(file));
    std::error_code unknown; // presets are in a menu of their own
    if (std::filesystem::absolute(file, unknown).parent_path() != assetFolder("presets"))
        files_.noteOpened(file);
}

void App::setLanguage(const std::string& code) {
    speakLanguage(code);
    language_ = code;
    guide_.retell(code);
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
        problems.size() == 1 ? "" : translatedFormat("{} more are wrong.", problems.size() - 1);
    ui_->say(Severity::warning, problems.front(), more);
}

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
    guide_.begin(std::move(lesson), lastState());
    exhibits_.putAside();
    showStep();
}

void App::showStep() {
    if (const std::string state = guide_.wantedState(); !state.empty())
        guarded(*ui_, [&] {
            readState(ordered_json::parse(state))();
            guide_.noteState();
        });
    guide_.noteStep(exhibit().id());
    settle_ = 3;
}

void App::turnLesson(int by) {
    settle_ = 3; // the answer may come first
    goToStep(guide_.neighbour(by, ui_->presenter));
}

void App::goToStep(std::optional<std::size_t> to) {
    if (!to) return;
    settle_ = 3;
    later_ = [this, step = *to] {
        guide_.leave(presentState());
        if (guide_.go(step)) showStep();
    };
}

void App::closeLesson() {
    guide_.close();
    settle_ = 3;
    if (guide_.own().is_null()) return;
    guarded(*ui_, [&] {
        ordered_json own = guide_.own(); // kept until it is back
        own.erase("exhibits");           // they are as they were left
        detailsChosen_.reset();          // a state is silent about what a person has not chosen
        setState(own);
    });
}

void App::lookAtLesson() {
    if (guide_.open() == nullptr) return;
    if (guide_.reload(*ui_)) showStep();
    guide_.look(measured(), lessonIsHere() && exhibit().running());
}

// To a lesson in the list, or one beside the open one.
void App::followLink() {
    if (ui_->linkWish.empty()) return;
    settle_ = 3;
    if (const std::optional<std::string> link = guide_.takeLink(*ui_))
        later_ = [this, to = *link] { command([&] { openLesson(guide_.linked(to)); }); };
}

void App::openLater(const std::optional<std::filesystem::path>& lesson) {
    if (lesson) later_ = [this, file = *lesson] { command([&] { openLesson(file); }); };
}

MeasuredValues App::measured() const {
    MeasuredValues values;
    for (const auto& entry : exhibits_.all()) entry->measured(values);
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

// All of the state but the exhibits.
ordered_json App::frameOfState() const {
    ordered_json json;
    json["lockstep"] = stateVersion;
    if (lessonIsHere()) json.update(guide_.stateTexts());
    json["exhibit"] = exhibits_.shown().id();
    json["theme"] = ui_->theme.dark ? "dark" : "light";
    json["presenter"] = ui_->presenter;
    json["zoom"] = zoom_;
    json["animations"] = ui_->animations;
    if (sound_.level() > 0) json["sound"] = Sound::levels[sound_.level()];
    if (!language_.empty()) json["language"] = language_;
    if (detailsChosen_) json["details"] = *detailsChosen_;
    json["hidden"] = ui_->hiddenControls;
    if (const std::optional<Speed> speed = exhibits_.chosenSpeed(exhibits_.shownIndex()))
        json["speed"] = *speed;
    for (std::size_t i = 0; i < exhibits_.all().size(); ++i)
        if (const std::optional<Speed> speed = exhibits_.chosenSpeed(i); speed && i != exhibits_.shownIndex())
            json["speeds"][std::string(exhibits_[i].id())] = *speed;
    if (const DeviceWish& device = devices_.chosen(); !device.select.empty())
        json["device"] = {{"id", device.select}, {"name", device.name}};
    return json;
}

ordered_json App::state() const {
    ordered_json json = frameOfState();
    for (const auto& entry : exhibits_.all()) json["exhibits"][std::string(entry->id())] = entry->state();
    return json;
}

ordered_json App::presentState() const {
    ordered_json json = frameOfState();
    for (const auto& entry : exhibits_.all()) json["exhibits"][std::string(entry->id())] = entry->lastState();
    return json;
}

// The next start goes on with a person's own settings.
ordered_json App::lastState() const { return guide_.own().is_null() ? presentState() : guide_.own(); }

void App::setState(const ordered_json& state) {
    Lesson texts = lessonOfState(state);
    const bool inLesson = exhibits_.isAside();
    exhibits_.bringBack();
    try {
        readState(state)();
    } catch (...) {
        if (inLesson) exhibits_.putAside();
        throw;
    }
    guide_.beginTexts(std::move(texts), state, exhibit().id());
}

// Checks it, and returns what applies it.
std::function<void()> App::readState(const ordered_json& state) {
    checkVersion(state);
    const auto theme = stateField<std::string>(state, "theme", ui_->theme.dark ? "dark" : "light");
    const auto exhibitName = stateField<std::string>(state, "exhibit", std::string(exhibit().id()));
    const auto hidden = stateField(state, "hidden", ui_->hiddenControls);
    const auto presenter = stateField(state, "presenter", ui_->presenter);
    const auto zoom = stateField(state, "zoom", zoom_);
    const auto animations = stateField(state, "animations", ui_->animations);
    const std::size_t sound = jsonWordOr(state, "sound", Sound::levels, sound_.level());
    const auto language = stateField(state, "language", language_);
    std::optional<bool> details = detailsChosen_;
    if (state.contains("details")) details = stateField(state, "details", false);
    std::optional<std::size_t> speed;
    if (state.contains("speed")) speed = ExhibitList::speedIndex(stateField(state, "speed", Speed{}));
    std::vector<std::pair<std::size_t, std::size_t>> others; // exhibits and their speeds
    const auto ofOthers = stateField(state, "speeds", std::map<std::string, Speed>{});
    for (std::size_t i = 0; i < exhibits_.all().size(); ++i)
        if (const auto found = ofOthers.find(std::string(exhibits_[i].id())); found != ofOthers.end())
            others.emplace_back(i, ExhibitList::speedIndex(found->second));
    const auto device = stateField(state, "device", ordered_json::object());
    const DeviceWish wish{stateField(device, "id", devices_.chosen().select),
                          stateField(device, "name", devices_.chosen().name)};
    const auto entries = stateField(state, "exhibits", ordered_json::object());
    if (std::ranges::none_of(exhibits_.all(), [&](const auto& entry) { return entry->id() == exhibitName; }))
        showExhibit(exhibitName); // throws and names the nearest
    std::vector<std::function<void()>> bringBack;
    for (const auto& entry : exhibits_.all())
        if (const auto found = entries.find(std::string(entry->id())); found != entries.end())
            bringBack.push_back([this, apply = entry->readState(*found), exhibit = entry.get()] {
                apply();
                if (exhibits_.isAside()) exhibit->edits().forget(); // the lesson did that
            });
    return [=, this] {
        showExhibit(exhibitName);
        for (const auto& exhibitState : bringBack) exhibitState();
        setDark(theme != "light");
        if (ui_->hiddenControls != hidden) hiding_.forget(); // what it would bring back is of another state
        ui_->hiddenControls = hidden;
        ui_->presenter = presenter;
        ui_->animations = animations;
        sound_.setLevel(sound);
        detailsChosen_ = details;
        setZoom(zoom);
        if (!languageFixed_ && language != language_) guarded(*ui_, [&] { setLanguage(language); });
        if (speed) exhibits_.setSpeed(exhibits_.shownIndex(), *speed);
        for (const auto& [index, chosen] : others) exhibits_.setSpeed(index, chosen);
        if (devices_.leadsElsewhere(wish)) wishes_.device = wish;
    };
}

} // namespace lockstep::demos
