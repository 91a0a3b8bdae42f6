// What explains the window: a control under the mouse, and what F1 opens: keys, glossary, this machine,
// lessons.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "demos/shell/app.h"
#include "demos/words/glossary.h"

namespace lockstep::demos {

namespace {

// By name in the language shown.
std::vector<Term> glossaryByName() {
    std::vector<Term> terms(glossary().begin(), glossary().end());
    if (spokenLanguage() == "en") return terms; // as it is
    const auto letters = [](const Term& term) {
        std::string name(translated(term.name));
        std::ranges::transform(name, name.begin(),
                               [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
        return name;
    };
    std::ranges::sort(terms, {}, letters);
    return terms;
}

} // namespace

void App::drawKeys() {
    constexpr std::pair<const char*, const char*> keys[] = {
        {"Space", "run, pause; press the control in the frame"},
        {"S", "step: train on one batch"},
        {"R", "reset: back to the start, same weights"},
        {"1, 2, ...", "exhibits, from the top of the list"},
        {"Page Up, Page Down", "lesson: back, next"},
        {"Tab, Shift+Tab", "next and previous control; Space or Enter presses it"},
        {"Arrows", "move between neighbouring controls"},
        {"Ctrl+Z, Ctrl+Y", "undo, redo a change"},
        {"Alt+Left, Alt+Right", "map: back and forward through the places you visited"},
        {"Ctrl + / - / 0", "larger, smaller, normal"},
        {"D", "details: the panel on the right"},
        {"P", "presenter mode"},
        {"F11", "full screen"},
        {"Ctrl+O", "open a file"},
        {"Ctrl+S, Ctrl+Shift+S", "save the state; under a name"},
        {"F12", "save a picture"},
        {"Shift+F12", "record an animated picture; again: stop, and save it"},
        {"F1, Esc", "close this page; F1 opens it"},
        {"Ctrl+Q", "quit"},
    };
    float keyWidth = 0;
    for (const auto& [key, what] : keys) keyWidth = std::max(keyWidth, textWidth(key));
    const float column = keyWidth * 1.1f + ui_->px(24);
    for (const auto& [key, what] : keys) {
        ui_->text(key, 0, ui_->fonts.strong);
        ImGui::SameLine(column);
        ui_->paragraph(what);
    }
}

void App::drawGlossary() {
    bool any = false;
    for (const Term& term : glossaryByName()) {
        if (!mentions(term, soughtTerm_)) continue;
        any = true;
        ui_->text(term.name, 0, ui_->fonts.strong);
        if (!term.other.empty()) {
            ImGui::SameLine();
            ui_->muted(translatedFormat("also {}", translated(term.other)));
        }
        ui_->paragraph(term.text);
        if (!term.formula.empty()) ui_->paragraph(term.formula);
        ImGui::Dummy({0, ui_->px(4)});
    }
    if (!any) ui_->muted("No term contains these letters.");
}

void App::drawMachine() {
    if (!machine_.draw(*ui_, device_.select)) return;
    for (const auto& entry : exhibits_)
        if (entry->running()) entry->pause();
}

void App::drawHelp() {
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({size.x / 2, size.y / 2}, ImGuiCond_Always, {0.5f, 0.5f});
    const ImVec2 wanted = helpPage_ == machinePage && machine_.shown() ? ImVec2{820, 760} : ImVec2{600, 580};
    ImGui::SetNextWindowSize({std::min(ui_->px(wanted.x), size.x - ui_->px(16)),
                              std::min(ui_->px(wanted.y), size.y - ui_->px(16))});
    ImGui::PushStyleColor(ImGuiCol_WindowBg, ui_->theme.panel);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui_->px(24), ui_->px(20)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ui_->px(10));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, ui_->line());
    constexpr ImGuiWindowFlags flags =
        ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings;
    if (ImGui::Begin("Help", &help_, flags)) {
        ui_->segments("##help", "Switches between the keys, the glossary, and the page about this machine.",
                      helpPage_, std::array<std::string, 4>{"Keys", "Glossary", "My machine", "Lessons"});
        if (helpPage_ == 1) {
            ImGui::SameLine(0, ui_->px(16));
            ImGui::SetNextItemWidth(-2 * ImGui::GetFrameHeight());
            ui_->textField("##glossary", "Shows only terms that contain these letters.", soughtTerm_);
            if (soughtTerm_.empty() && !ImGui::IsItemActive() && !ui_->hidden("##glossary")) {
                const ImVec2 padding = ImGui::GetStyle().FramePadding;
                const ImVec2 corner = ImGui::GetItemRectMin();
                drawText(*ImGui::GetWindowDrawList(), {corner.x + padding.x, corner.y + padding.y},
                         ui_->theme.muted, "Search");
            }
        }
        ImGui::SameLine(ImGui::GetContentRegionMax().x - ImGui::GetFrameHeight());
        if (ui_->button("×##help", "Closes this page (Esc).")) help_ = false;
        ImGui::Dummy({0, ui_->px(4)});
        ImGui::BeginChild("help page");
        if (helpPage_ == 0)
            drawKeys();
        else if (helpPage_ == 1)
            drawGlossary();
        else if (helpPage_ == machinePage)
            drawMachine();
        else
            drawLessons();
        ImGui::EndChild();
        constexpr auto inside =
            ImGuiHoveredFlags_ChildWindows | ImGuiHoveredFlags_AllowWhenBlockedByActiveItem;
        if (ImGui::IsMouseClicked(0) && !ImGui::IsWindowHovered(inside)) help_ = false;
    }
    ImGui::End();
    ImGui::PopStyleVar(3);
    ImGui::PopStyleColor();
}

} // namespace lockstep::demos
