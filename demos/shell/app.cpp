#include "demos/shell/app.h"

#include <cmath>

#include <GLFW/glfw3.h>

#include "engine/net/names.h"

namespace lockstep::demos {

namespace {

constexpr float bodyUnits = 16;

} // namespace

App::App(Graphics& graphics, Machines& machines, std::vector<std::unique_ptr<Exhibit>> exhibits) {
    IMGUI_CHECKVERSION();
    openContext();
    ui_ = std::make_unique<Ui>(graphics, machines);
    input_ = std::make_unique<InputQueue>();
    exhibits_ = std::move(exhibits);
    for (const auto& entry : exhibits_) entry->setSpeed(entry->usualSpeed());
}

App::~App() {
    desk_.save();
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

std::string App::releaseDevice() {
    std::string costs;
    for (const auto& entry : exhibits_)
        if (const std::string cost = entry->releaseDevice(); !cost.empty())
            costs += (costs.empty() ? "" : " ") + cost;
    letters_.reset();
    pictures_.clear();
    closeContext();
    return costs;
}

void App::attachDevice() {
    openContext();
    *input_ = InputQueue(); // in its place: windows know it
    devices_.clear();
    // The device may have been lost while a lesson's step was being set up.
    if (desk_.open() != nullptr && desk_.open()->state() != stepState_) later_ = [this] { showStep(); };
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
    if (listing_.valid()) guarded([this] { listDevices(); });
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
    drawStatus();
    ImGui::End();
    drawRecordingSign();
    if (help_)
        drawHelp();
    else if (lessonIsHere())
        drawLessonRing(*ui_, desk_.open()->step());
    drawOffer();
    ui_->drawExplanation();
    drawChooser();
    if (settle_ > 0) { // without input, no person has changed anything
        const bool held = ImGui::IsAnyItemActive() || ImGui::IsAnyMouseDown();
        exhibit().edits().note(held);
        hiding_.note(held);
    }
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
    lookAtLesson();
    followLink();
}

// The request often comes from a menu, which must not be in the picture.
void App::grantPicture() {
    if (!ui_->pictureWish && !recordWished_) return;
    constexpr int framesToClose = 2;
    settle_ = 3;
    if (pictureWaits_++ < framesToClose) return;
    pictureWaits_ = 0;
    wishes_.picture = std::exchange(ui_->pictureWish, std::nullopt);
    wishes_.record = std::exchange(recordWished_, false);
}

bool App::wantsFrame() const {
    // A key that is held repeats itself by ImGui's clock, which stands still between frames.
    const bool repeating = input_->keyHeld() && ImGui::GetIO().WantTextInput;
    return settle_ > 0 || repeating || !input_->empty() || listing_.valid() || ui_->explanationPending() ||
           ui_->easing() || exhibits_[shown_]->moving() || (help_ && measuresMachine()) || clockMoves();
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
    guarded(action);
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

void App::handleKey(const KeyPress& press) {
    settle_ = 3;
    if (chooser_.takeKey(press.key == GLFW_KEY_ESCAPE, press.key == GLFW_KEY_ENTER)) return;
    if (press.control) {
        if (press.key == GLFW_KEY_O) askForFile(FileChooser::Purpose::open);
        if (press.key == GLFW_KEY_S) press.shift ? askForFile(FileChooser::Purpose::save) : saveState({});
        if (press.key == GLFW_KEY_EQUAL || press.key == GLFW_KEY_KP_ADD) setZoom(zoom_ * 1.1f);
        if (press.key == GLFW_KEY_MINUS || press.key == GLFW_KEY_KP_SUBTRACT) setZoom(zoom_ / 1.1f);
        if (press.key == GLFW_KEY_0) setZoom(1);
        if (press.key == GLFW_KEY_Q) wishes_.quit = true;
        if (help_ || ImGui::GetIO().WantTextInput) return; // a text field has an undo of its own
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
    if (help_ && !ofHelp) return; // what a key would do is behind the page
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
    case GLFW_KEY_F1: help_ = !help_; return;
    case GLFW_KEY_F11: wishes_.fullScreen = true; return;
    case GLFW_KEY_F12:
        if (press.shift)
            wishes_.record = true;
        else
            wishes_.picture.emplace();
        return;
    case GLFW_KEY_ESCAPE:
        help_ = false;
        ui_->hidingControls = false;
        return;
    default: break;
    }
    if (press.key >= GLFW_KEY_1 && press.key <= GLFW_KEY_9) {
        if (exhibit().takeDigit(press.key - GLFW_KEY_1 + 1)) return;
        const auto index = static_cast<std::size_t>(press.key - GLFW_KEY_1);
        const std::vector<std::size_t> listed = listedExhibits();
        if (ui_->typeDigit(static_cast<char>(press.key))) return;
        if (index < listed.size()) choose(*exhibits_[listed[index]]);
    }
}

} // namespace lockstep::demos
