#include "demos/shell/app.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <GLFW/glfw3.h>
#include <fmt/format.h>

#include "demos/shell/icons.h"
#include "engine/gpu/error.h"
#include "engine/net/names.h"

namespace lockstep::demos {

namespace {

struct NamedSpeed {
    const char* name;
    Speed stepsPerSecond;
};

constexpr NamedSpeed speeds[] = {
    {"flat out", 0},     {"300 steps/s", 300}, {"60 steps/s", 60},
    {"10 steps/s", 10},  {"3 steps/s", 3},     {"1 step/s", 1},
};

constexpr float bodyUnits = 16;

} // namespace

App::App(Graphics& graphics, Machines& machines) {
    IMGUI_CHECKVERSION();
    context_ = ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.LogFilename = nullptr;
    io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    ui_ = std::make_unique<Ui>(graphics, machines);
    input_ = std::make_unique<InputQueue>();
    exhibits_ = makeExhibits();
}

App::~App() {
    exhibits_.clear();
    ui_.reset();
    ImGui::DestroyContext(context_);
}

// What an exhibit throws becomes a message: the window outlives it.
template <class Action> void App::guarded(Action action) {
    try {
        action();
    } catch (const gpu::DeviceLostError&) {
        throw; // everything has to be made anew
    } catch (const std::exception& error) {
        ui_->say(Severity::error, error.what());
    }
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

void App::setDark(bool dark) { ui_->theme = makeTheme(dark); }

void App::setZoom(float zoom) { zoom_ = std::clamp(zoom, 0.5f, 3.0f); }

// Letters are at least a fiftieth of the window's height, so that the back row can read them.
void App::bakeFonts(std::uint32_t height, float displayScale) {
    const float comfortable = std::max(bodyUnits * displayScale, static_cast<float>(height) / 50);
    const float pixels =
        std::clamp(std::round(comfortable * zoom_ * (ui_->presenter ? 2.0f : 1.0f)), 8.0f, 96.0f);
    const bool same = pixels == bakedPixels_;
    if (same && bakedDark_ == ui_->theme.dark) return;
    if (!same) ui_->fonts = letters_.bake(ui_->graphics, pixels);
    bakedPixels_ = pixels;
    bakedDark_ = ui_->theme.dark;
    ui_->scale = pixels / bodyUnits;
    applyTheme(ui_->theme, ui_->scale);
}

const ImDrawData& App::frame(std::uint32_t width, std::uint32_t height, float displayScale, double seconds) {
    bakeFonts(height, displayScale);
    ui_->delta = seconds;
    ui_->now += seconds;
    if (!input_->empty()) settle_ = 3;
    else if (settle_ > 0) --settle_;
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
    io.DeltaTime = std::max(static_cast<float>(seconds), 1e-4f);
    frameMilliseconds_ += 0.1f * (static_cast<float>(seconds) * 1000 - frameMilliseconds_);
    const std::vector<KeyPress> pressed = input_->feed();
    const bool typing = io.WantTextInput;
    ui_->beginFrame();
    ImGui::NewFrame();
    for (const KeyPress& press : pressed)
        if (!typing || press.control) handleKey(press);

    guarded([this] { exhibit().update(*ui_); });
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
    const float status = ImGui::GetFrameHeight() + ui_->px(4);
    const float middleHeight = std::max(1.0f, ImGui::GetContentRegionAvail().y - status);
    const float left = ui_->presenter ? 0 : ui_->px(212);
    const float right = ui_->presenter ? 0 : ui_->px(286);
    const float middle = std::max(1.0f, io.DisplaySize.x - left - right);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
    if (left > 0) {
        ImGui::PushStyleColor(ImGuiCol_ChildBg, ui_->theme.panel);
        ImGui::BeginChild("exhibits", {left, middleHeight});
        ImGui::PopStyleVar();
        drawExhibitList();
        ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
        ImGui::EndChild();
        ImGui::PopStyleColor();
        ImGui::SameLine();
    }
    ImGui::BeginChild("exhibit", {middle, middleHeight}, true, ImGuiWindowFlags_AlwaysUseWindowPadding);
    ImGui::PopStyleVar();
    guarded([this] { exhibit().draw(*ui_); });
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
    ImGui::EndChild();
    if (right > 0) {
        ImGui::SameLine();
        ImGui::PushStyleColor(ImGuiCol_ChildBg, ui_->theme.panel);
        ImGui::BeginChild("details", {right, middleHeight}, true, ImGuiWindowFlags_AlwaysUseWindowPadding);
        ImGui::PopStyleVar();
        drawDetails();
        ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
        ImGui::EndChild();
        ImGui::PopStyleColor();
    }
    ImGui::PopStyleVar();
    drawStatus();
    ImGui::End();
    if (help_) drawHelp();
    ImGui::Render();
    return *ImGui::GetDrawData();
}

bool App::wantsFrame() const { return settle_ > 0 || !input_->empty() || exhibits_[shown_]->moving(); }

void App::toggleRun() {
    guarded([this] {
        if (exhibit().running()) exhibit().pause();
        else exhibit().run(*ui_);
    });
}

void App::handleKey(const KeyPress& press) {
    settle_ = 3;
    if (press.control) {
        if (press.key == GLFW_KEY_S) wishes_.picture.reset(), saveState({});
        if (press.key == GLFW_KEY_EQUAL || press.key == GLFW_KEY_KP_ADD) setZoom(zoom_ * 1.1f);
        if (press.key == GLFW_KEY_MINUS || press.key == GLFW_KEY_KP_SUBTRACT) setZoom(zoom_ / 1.1f);
        if (press.key == GLFW_KEY_0) setZoom(1);
        if (press.key == GLFW_KEY_Q) wishes_.quit = true;
        return;
    }
    switch (press.key) {
    case GLFW_KEY_SPACE:
        // With a widget in the keyboard's focus, ImGui presses that.
        if (!ImGui::GetIO().NavVisible) toggleRun();
        return;
    case GLFW_KEY_S:
        guarded([this] {
            if (exhibit().canStep(StepUnit::batch)) exhibit().step(*ui_, StepUnit::batch);
        });
        return;
    case GLFW_KEY_R: guarded([this] { exhibit().reset(*ui_); }); return;
    case GLFW_KEY_P: ui_->presenter = !ui_->presenter; return;
    case GLFW_KEY_F1: help_ = !help_; return;
    case GLFW_KEY_F11: wishes_.fullScreen = true; return;
    case GLFW_KEY_F12: wishes_.picture = ""; return;
    case GLFW_KEY_ESCAPE:
        help_ = false;
        ui_->hidingControls = false;
        return;
    default: break;
    }
    if (press.key >= GLFW_KEY_1 && press.key <= GLFW_KEY_9) {
        const auto index = static_cast<std::size_t>(press.key - GLFW_KEY_1);
        if (index < exhibits_.size()) showExhibit(exhibits_[index]->id());
    }
}

AppWishes App::takeWishes() {
    AppWishes wishes = std::move(wishes_);
    wishes_ = {};
    return wishes;
}

void App::drawMenus() {
    const auto item = [this](const char* label, const char* key, bool on = false, bool enabled = true) {
        const bool chosen = ImGui::MenuItem(label, key, on, enabled);
        ui_->noteControl((std::string("menu/") + label).c_str());
        return chosen;
    };
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui_->px(10), ui_->px(8)});
    if (ImGui::BeginMenuBar()) {
        const auto menu = [this](const char* label) {
            const bool open = ImGui::BeginMenu(label);
            ui_->noteControl((std::string("menu/") + label).c_str());
            return open;
        };
        if (menu("File")) {
            if (item("Save state", "Ctrl+S")) saveState({});
            if (item("Save picture", "F12")) wishes_.picture = "";
            if (item("Quit", "Ctrl+Q")) wishes_.quit = true;
            ImGui::EndMenu();
        }
        if (menu("Run")) {
            if (item(exhibit().running() ? "Pause" : "Run", "Space")) toggleRun();
            if (item("Step", "S", false, exhibit().canStep(StepUnit::batch)))
                guarded([this] { exhibit().step(*ui_, StepUnit::batch); });
            if (item("Reset (same weights)", "R")) guarded([this] { exhibit().reset(*ui_); });
            if (item("New weights", nullptr)) guarded([this] { exhibit().reroll(*ui_); });
            ImGui::Separator();
            guarded([this] { exhibit().drawMenu(*ui_); });
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
            ImGui::Separator();
            if (item("Hide controls by clicking", nullptr, ui_->hidingControls))
                ui_->hidingControls = !ui_->hidingControls;
            if (item("Show all controls", nullptr, false, !ui_->hiddenControls.empty()))
                ui_->hiddenControls.clear();
            ImGui::EndMenu();
        }
        if (menu("Help")) {
            if (item("Keys", "F1", help_)) help_ = !help_;
            ImGui::EndMenu();
        }
        ImGui::EndMenuBar();
    }
    ImGui::PopStyleVar();
}

void App::drawTransport() {
    const Theme& theme = ui_->theme;
    const float height = ImGui::GetFrameHeight() + ui_->px(18);
    ImGui::PushStyleColor(ImGuiCol_ChildBg, theme.panel);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui_->px(12), ui_->px(9)});
    ImGui::BeginChild("transport", {0, height}, true, ImGuiWindowFlags_NoScrollbar);
    ImGui::PopStyleVar();
    Exhibit& shown = exhibit();
    const bool running = shown.running();
    if (iconButton(*ui_, running ? "Pause" : "Run", running ? drawPause : drawPlay, true)) toggleRun();
    const auto stepButton = [&](const char* label, StepUnit unit) {
        if (!shown.canStep(unit)) return;
        ImGui::SameLine();
        if (iconButton(*ui_, label, drawStep, false))
            guarded([&] { shown.step(*ui_, unit); });
    };
    stepButton("Kernel", StepUnit::kernel);
    stepButton("Batch", StepUnit::batch);
    stepButton("Epoch", StepUnit::epoch);
    ImGui::SameLine();
    if (iconButton(*ui_, "Reset", drawReset, false)) guarded([&] { shown.reset(*ui_); });
    ImGui::SameLine();
    if (iconButton(*ui_, "Re-roll", drawDice, false)) guarded([&] { shown.reroll(*ui_); });
    ImGui::SameLine();
    ImGui::SetNextItemWidth(ui_->px(124));
    std::vector<std::string> names;
    for (const NamedSpeed& speed : speeds) names.emplace_back(speed.name);
    if (ui_->combo("##speed", speed_, names)) shown.setSpeed(speeds[speed_].stepsPerSecond);
    ImGui::SameLine();
    ui_->muted(fmt::format("on {}", ui_->graphics.device().report().name));
    if (ui_->graphics.device().software()) {
        ImGui::SameLine();
        ui_->text("software, not a GPU", theme.gpu);
    }
    ImGui::EndChild();
    ImGui::PopStyleColor();
}

void App::drawExhibitList() {
    const Theme& theme = ui_->theme;
    ImGui::Dummy({0, ui_->px(8)});
    for (std::size_t i = 0; i < exhibits_.size(); ++i) {
        Exhibit& entry = *exhibits_[i];
        const float width = ImGui::GetContentRegionAvail().x;
        const float textLeft = ui_->px(52);
        const float wrap = width - textLeft - ui_->px(10);
        const ImVec2 blurb = ImGui::CalcTextSize(entry.blurb(), nullptr, false, wrap);
        const float height = ImGui::GetTextLineHeight() + blurb.y + ui_->px(20);
        const ImVec2 start = ImGui::GetCursorScreenPos();
        ImGui::PushID(static_cast<int>(i));
        const bool clicked = ImGui::InvisibleButton(entry.title(), {width, height});
        const bool hovered = ImGui::IsItemHovered();
        ImGui::PopID();
        ui_->noteControl(entry.title());
        ImDrawList& draw = *ImGui::GetWindowDrawList();
        const ImVec2 low{start.x + width, start.y + height};
        if (i == shown_ || hovered)
            draw.AddRectFilled({start.x + ui_->px(6), start.y}, {low.x - ui_->px(6), low.y},
                               i == shown_ ? theme.raised : faded(theme.raised, 0.5f), ui_->px(8));
        if (i == shown_)
            draw.AddRectFilled({start.x + ui_->px(6), start.y + ui_->px(10)},
                               {start.x + ui_->px(9), low.y - ui_->px(10)}, theme.text, ui_->px(2));
        entry.drawIcon(draw, {start.x + ui_->px(30), start.y + ui_->px(10) + ImGui::GetTextLineHeight() / 2},
                       ui_->px(20), i == shown_ ? theme.text : theme.muted);
        draw.AddText(ui_->fonts.strong, ImGui::GetFontSize(), {start.x + textLeft, start.y + ui_->px(9)},
                     theme.text, entry.title());
        draw.AddText(nullptr, 0, {start.x + textLeft, start.y + ui_->px(11) + ImGui::GetTextLineHeight()},
                     theme.muted, entry.blurb(), nullptr, wrap);
        ImGui::Dummy({0, ui_->px(2)});
        if (clicked) showExhibit(entry.id());
    }
}

void App::drawDetails() {
    if (!ui_->hovered) {
        guarded([this] { exhibit().drawDetails(*ui_); });
        return;
    }
    const Detail& detail = *ui_->hovered;
    ui_->text(detail.title, 0, ui_->fonts.strong);
    if (!detail.formula.empty()) {
        ImGui::PushFont(ui_->fonts.mono);
        ui_->paragraph(detail.formula, ui_->theme.text);
        ImGui::PopFont();
    }
    ImGui::Dummy({0, ui_->px(2)});
    for (const auto& [name, value] : detail.values) ui_->row(name, value);
    if (!detail.text.empty()) ui_->paragraph(detail.text, ui_->theme.muted);
}

void App::drawStatus() {
    const Theme& theme = ui_->theme;
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetIO().DisplaySize.x;
    const float height = ImGui::GetFrameHeight() + ui_->px(4);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRectFilled(start, {start.x + width, start.y + height}, theme.panel);
    draw.AddLine(start, {start.x + width, start.y}, theme.border, ui_->line());
    ImGui::SetCursorScreenPos({start.x + ui_->px(12), start.y + ui_->px(6)});
    if (!ui_->messages.empty()) {
        const Message& message = ui_->messages.back();
        const ImU32 colour = message.severity == Severity::info      ? theme.muted
                             : message.severity == Severity::warning ? theme.warning
                                                                     : theme.bad;
        std::string shown = message.text.substr(0, message.text.find('\n'));
        if (!message.hint.empty()) shown += "  " + message.hint;
        ui_->text(shown, colour);
        if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s\n%s", message.text.c_str(), message.hint.c_str());
    } else {
        ui_->muted(ui_->hidingControls ? "Click what shall be hidden; Esc ends." : "F1 shows all keys");
    }
    const std::string time = ui_->timing(fmt::format("{:.1f} ms/frame", frameMilliseconds_));
    ImGui::SameLine(width - ImGui::CalcTextSize(time.c_str()).x - ui_->px(12));
    ui_->muted(time);
}

void App::drawHelp() {
    constexpr std::pair<const char*, const char*> keys[] = {
        {"Space", "run, pause"},         {"S", "one step"},
        {"R", "reset, same weights"},    {"1-9", "exhibits"},
        {"F1", "this page"},             {"F11", "full screen"},
        {"P", "presenter mode"},         {"Ctrl + / - / 0", "larger, smaller, normal"},
        {"Ctrl+S", "save the state"},    {"F12", "save a picture"},
        {"Tab, arrows", "move between controls; Space presses"}, {"Ctrl+Q", "quit"},
    };
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({size.x / 2, size.y / 2}, ImGuiCond_Always, {0.5f, 0.5f});
    ImGui::SetNextWindowSize({std::min(size.x, ui_->px(520)), 0});
    ImGui::PushStyleColor(ImGuiCol_WindowBg, ui_->theme.panel);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui_->px(24), ui_->px(20)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ui_->px(10));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, ui_->line());
    if (ImGui::Begin("Keys", &help_,
                     ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize |
                         ImGuiWindowFlags_NoMove)) {
        ui_->text("Keys", 0, ui_->fonts.title);
        for (const auto& [key, what] : keys) {
            ui_->text(key, 0, ui_->fonts.strong);
            ImGui::SameLine(ui_->px(180));
            ui_->muted(what);
        }
    }
    ImGui::End();
    ImGui::PopStyleVar(3);
    ImGui::PopStyleColor();
}

} // namespace lockstep::demos
