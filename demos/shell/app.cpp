#include "demos/shell/app.h"

#include <cmath>
#include <stdexcept>

#include <GLFW/glfw3.h>
#include <fmt/format.h>

#include "demos/draw/icons.h"
#include "engine/net/names.h"

namespace lockstep::demos {

namespace {

struct NamedSpeed {
    const char* name;
    Speed stepsPerSecond;
};

constexpr NamedSpeed speeds[] = {
    {"flat out", 0},    {"300 steps/s", 300}, {"60 steps/s", 60},
    {"10 steps/s", 10}, {"3 steps/s", 3},     {"1 step/s", 1},
};

constexpr float bodyUnits = 16;
constexpr float speedUnits = 128; // of the list of speeds

struct TransportButton {
    const char* label;
    Icon icon;
    std::optional<StepUnit> unit; // of steps
    bool labelled = false;        // else the sign stands alone
};

// Beside Run. Labels stand there as far as there is room for them, from the left.
std::vector<TransportButton> transportButtons(const Ui& ui, const Exhibit& shown, float room) {
    std::vector<TransportButton> buttons{{"Kernel", Icon::kernel, StepUnit::kernel},
                                         {"Step", Icon::step, StepUnit::batch},
                                         {"Epoch", Icon::epoch, StepUnit::epoch},
                                         {"Reset", Icon::reset, {}},
                                         {"New weights", Icon::dice, {}}};
    std::erase_if(buttons,
                  [&](const TransportButton& button) { return button.unit && !shown.canStep(*button.unit); });
    const ImGuiStyle& style = ImGui::GetStyle();
    const float sign = iconRoom(ui) + 2 * style.FramePadding.x + style.ItemSpacing.x;
    room -= textWidth("Pause") + sign * static_cast<float>(buttons.size() + 1) + ui.px(speedUnits) +
            style.ItemSpacing.x;
    // That a device is software is said in any case.
    if (ui.graphics.device().software()) room -= textWidth(describe(gpu::DeviceType::software)) + ui.px(34);
    for (TransportButton& button : buttons) {
        room -= textWidth(button.label);
        button.labelled = room >= 0;
    }
    return buttons;
}

} // namespace

App::App(Graphics& graphics, Machines& machines) {
    IMGUI_CHECKVERSION();
    openContext();
    ui_ = std::make_unique<Ui>(graphics, machines);
    input_ = std::make_unique<InputQueue>();
    exhibits_ = makeExhibits();
    for (const auto& entry : exhibits_) entry->setSpeed(entry->usualSpeed());
}

App::~App() {
    exhibits_.clear();
    ui_.reset();
    if (context_ != nullptr) ImGui::DestroyContext(context_);
}

void App::openContext() {
    context_ = ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.LogFilename = nullptr;
    io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
}

std::string App::releaseDevice() {
    std::string costs;
    for (const auto& entry : exhibits_)
        if (const std::string cost = entry->releaseDevice(); !cost.empty())
            costs += (costs.empty() ? "" : " ") + cost;
    letters_.reset();
    // The device may have been lost in the middle of a frame, which ImGui must end.
    if (context_ != nullptr) ImGui::DestroyContext(context_);
    context_ = nullptr;
    return costs;
}

void App::attachDevice() {
    openContext();
    *input_ = InputQueue(); // in its place: windows know it
    bakedPixels_ = 0;
    settle_ = 3;
    devices_.clear();
}

void App::showExhibit(std::string_view id) {
    std::vector<std::string_view> known;
    for (std::size_t i = 0; i < exhibits_.size(); ++i) {
        known.push_back(exhibits_[i]->id());
        if (exhibits_[i]->id() != id) continue;
        if (i != shown_) exhibit().pause();
        shown_ = i;
        return;
    }
    throwUnknownName("exhibit", id, known);
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

const ImDrawData& App::frame(std::uint32_t width, std::uint32_t height, float displayScale, double seconds) {
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
    for (const KeyPress& press : pressed)
        if (!typing || press.control || press.key == GLFW_KEY_TAB || press.key == GLFW_KEY_F1)
            handleKey(press);

    update(seconds);
    if (listing_.valid()) guarded([this] { listDevices(); });
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(io.DisplaySize);
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
    drawStatus();
    ImGui::End();
    if (help_) drawHelp();
    ui_->drawExplanation();
    drawChooser();
    ImGui::Render();
    grantPicture();
    grantExhibit();
    return *ImGui::GetDrawData();
}

void App::noteFrameTime(double seconds) {
    const auto milliseconds = static_cast<float>(seconds * 1000);
    frameMilliseconds_ =
        frameMilliseconds_ ? *frameMilliseconds_ + 0.1f * (milliseconds - *frameMilliseconds_) : milliseconds;
}

void App::update(double seconds) {
    ui_->delta = seconds;
    ui_->now += seconds;
    guarded([this] { exhibit().update(*ui_); });
}

// The request often comes from a menu, which must not be in the picture.
void App::grantPicture() {
    if (!ui_->pictureWish) return;
    constexpr int framesToClose = 2;
    settle_ = 3;
    if (pictureWaits_++ < framesToClose) return;
    pictureWaits_ = 0;
    wishes_.picture = std::exchange(ui_->pictureWish, std::nullopt);
}

bool App::wantsFrame() const {
    // A key that is held repeats itself by ImGui's clock, which stands still between frames.
    const bool repeating = input_->keyHeld() && ImGui::GetIO().WantTextInput;
    return settle_ > 0 || repeating || !input_->empty() || listing_.valid() || ui_->explanationPending() ||
           ui_->easing() || exhibits_[shown_]->moving();
}

void App::setSpeed(std::size_t index) {
    speed_ = index;
    for (const auto& entry : exhibits_) entry->setSpeed(speeds[index].stepsPerSecond);
}

std::size_t App::shownSpeed() const {
    if (speed_) return *speed_;
    return flatOut_ ? 0 : speedIndex(exhibits_[shown_]->usualSpeed());
}

std::size_t App::speedIndex(Speed stepsPerSecond) {
    const auto found = std::ranges::find(speeds, stepsPerSecond, &NamedSpeed::stepsPerSecond);
    if (found == std::end(speeds))
        throw std::invalid_argument(
            fmt::format("the speed {} is not in the list: 0 is flat out, 60 is 60 steps/s", stepsPerSecond));
    return static_cast<std::size_t>(found - std::begin(speeds));
}

Speed App::chosenSpeed() const { return speeds[speed_.value_or(0)].stepsPerSecond; }

void App::setFlatOut() {
    flatOut_ = true;
    for (const auto& entry : exhibits_) entry->setSpeed(0);
}

void App::toggleRun() {
    guarded([this] {
        if (exhibit().running())
            exhibit().pause();
        else
            exhibit().run(*ui_);
    });
}

void App::handleKey(const KeyPress& press) {
    settle_ = 3;
    if (chooser_.takeKey(press.key == GLFW_KEY_ESCAPE)) return;
    if (press.control) {
        if (press.key == GLFW_KEY_O) askForFile(FileChooser::Purpose::open);
        if (press.key == GLFW_KEY_S) press.shift ? askForFile(FileChooser::Purpose::save) : saveState({});
        if (press.key == GLFW_KEY_EQUAL || press.key == GLFW_KEY_KP_ADD) setZoom(zoom_ * 1.1f);
        if (press.key == GLFW_KEY_MINUS || press.key == GLFW_KEY_KP_SUBTRACT) setZoom(zoom_ / 1.1f);
        if (press.key == GLFW_KEY_0) setZoom(1);
        if (press.key == GLFW_KEY_Q) wishes_.quit = true;
        if (ImGui::GetIO().WantTextInput) return; // a text field has an undo of its own
        const bool again = press.key == GLFW_KEY_Y || (press.key == GLFW_KEY_Z && press.shift);
        if (again)
            guarded([this] { exhibit().redo(*ui_); });
        else if (press.key == GLFW_KEY_Z)
            guarded([this] { exhibit().undo(*ui_); });
        return;
    }
    if (press.alt) {
        if (press.key == GLFW_KEY_LEFT) exhibit().travel(*ui_, Travel::back);
        if (press.key == GLFW_KEY_RIGHT) exhibit().travel(*ui_, Travel::forward);
        return;
    }
    switch (press.key) {
    case GLFW_KEY_SPACE:
        // With a widget in the keyboard's focus, ImGui presses that.
        if (!ImGui::GetIO().NavVisible) toggleRun();
        return;
    case GLFW_KEY_TAB: ui_->moveFocus(press.shift ? -1 : 1); return;
    case GLFW_KEY_S:
        guarded([this] {
            if (exhibit().canStep(StepUnit::batch)) exhibit().step(*ui_, StepUnit::batch);
        });
        return;
    case GLFW_KEY_R: guarded([this] { exhibit().reset(*ui_); }); return;
    case GLFW_KEY_P: ui_->presenter = !ui_->presenter; return;
    case GLFW_KEY_F1: help_ = !help_; return;
    case GLFW_KEY_F11: wishes_.fullScreen = true; return;
    case GLFW_KEY_F12: wishes_.picture.emplace(); return;
    case GLFW_KEY_ESCAPE:
        help_ = false;
        ui_->hidingControls = false;
        return;
    default: break;
    }
    if (press.key >= GLFW_KEY_1 && press.key <= GLFW_KEY_9) {
        if (exhibit().takeDigit(press.key - GLFW_KEY_1 + 1)) return;
        const auto index = static_cast<std::size_t>(press.key - GLFW_KEY_1);
        if (index < exhibits_.size()) showExhibit(exhibits_[index]->id());
    }
}

void App::drawMenus() {
    const auto noted = [this](const char* label, bool used) {
        ui_->noteControl((std::string("menu/") + label).c_str());
        return used;
    };
    const auto item = [&](const char* label, const char* key, bool on = false, bool enabled = true) {
        return noted(label, ImGui::MenuItem(label, key, on, enabled));
    };
    const auto menu = [&](const char* label) { return noted(label, ImGui::BeginMenu(label)); };
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui_->px(10), ui_->px(8)});
    if (ImGui::BeginMenuBar()) {
        drawFileMenu();
        if (menu("Run")) {
            if (item(exhibit().running() ? "Pause" : "Run", "Space")) toggleRun();
            const auto step = [&](const char* label, const char* key, StepUnit unit) {
                if (item(label, key, false, exhibit().canStep(unit)))
                    guarded([&] { exhibit().step(*ui_, unit); });
            };
            step("Kernel", nullptr, StepUnit::kernel);
            step("Step", "S", StepUnit::batch);
            step("Epoch", nullptr, StepUnit::epoch);
            if (item("Reset", "R")) guarded([this] { exhibit().reset(*ui_); });
            if (item("New weights", nullptr)) guarded([this] { exhibit().reroll(*ui_); });
            if (menu("Speed")) {
                for (std::size_t i = 0; i < std::size(speeds); ++i)
                    if (item(speeds[i].name, nullptr, i == shownSpeed())) setSpeed(i);
                ImGui::EndMenu();
            }
            ImGui::Separator();
            guarded([this] { exhibit().drawMenu(*ui_); });
            if (menu("Device")) {
                drawDeviceList("menu/device/");
                ImGui::EndMenu();
            }
            ImGui::EndMenu();
        }
        if (menu("Exhibits")) {
            for (std::size_t i = 0; i < exhibits_.size(); ++i)
                if (item(exhibits_[i]->title(), fmt::format("{}", i + 1).c_str(), i == shown_))
                    showExhibit(exhibits_[i]->id());
            ImGui::EndMenu();
        }
        if (menu("View")) {
            if (item("Dark", nullptr, ui_->theme.dark)) setDark(true);
            if (item("Light", nullptr, !ui_->theme.dark)) setDark(false);
            ImGui::Separator();
            if (item("Presenter mode", "P", ui_->presenter)) ui_->presenter = !ui_->presenter;
            if (item("Full screen", "F11")) wishes_.fullScreen = true;
            if (item("Larger", "Ctrl++")) setZoom(zoom_ * 1.1f);
            if (item("Smaller", "Ctrl+-")) setZoom(zoom_ / 1.1f);
            if (item("Normal size", "Ctrl+0")) setZoom(1);
            if (item("Animations", nullptr, ui_->animations)) ui_->animations = !ui_->animations;
            ImGui::Separator();
            if (item("Hide controls by clicking", nullptr, ui_->hidingControls))
                ui_->hidingControls = !ui_->hidingControls;
            if (item("Show all controls", nullptr, false, !ui_->hiddenControls.empty()))
                ui_->hiddenControls.clear();
            ImGui::EndMenu();
        }
        if (menu("Help")) {
            if (item("Keys", "F1")) help_ = true, helpPage_ = 0;
            if (item("Glossary", nullptr)) help_ = true, helpPage_ = 1;
            ImGui::EndMenu();
        }
        ImGui::EndMenuBar();
    }
    ImGui::PopStyleVar();
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
    const float room = ImGui::GetContentRegionAvail().x;
    const bool running = shown.running();
    if (iconButton(*ui_, running ? "Pause" : "Run", running ? Icon::pause : Icon::run, {.primary = true}))
        toggleRun();
    for (const TransportButton& button : transportButtons(*ui_, shown, room)) {
        ImGui::SameLine();
        if (!iconButton(*ui_, button.label, button.icon, {.signOnly = !button.labelled})) continue;
        guarded([&] {
            if (button.unit)
                shown.step(*ui_, *button.unit);
            else if (button.icon == Icon::reset)
                shown.reset(*ui_);
            else
                shown.reroll(*ui_);
        });
    }
    ImGui::SameLine();
    ImGui::SetNextItemWidth(std::clamp(ImGui::GetContentRegionAvail().x, ui_->px(48), ui_->px(speedUnits)));
    std::vector<std::string> names;
    for (const NamedSpeed& speed : speeds) names.emplace_back(speed.name);
    std::size_t chosen = shownSpeed();
    if (ui_->combo("##speed", chosen, names)) setSpeed(chosen);
    ImGui::SameLine();
    drawDevice(ImGui::GetCursorPosX() + ui_->px(8), padding.x + room);
    ImGui::EndChild();
    ImGui::PopStyleColor();
}

} // namespace lockstep::demos
