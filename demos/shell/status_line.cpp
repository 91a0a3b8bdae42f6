#include "demos/shell/status_line.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace lockstep::demos {

namespace {

constexpr double infoSeconds = 10; // then the line below says again how to get help

ImU32 severityColour(const Theme& theme, Severity severity) {
    if (severity == Severity::info) return theme.muted;
    return severity == Severity::warning ? theme.warning : theme.bad;
}

// The second cue beside the colour: a dot, a triangle, a cross.
void drawSeverity(ImDrawList& draw, ImVec2 centre, float size, Severity severity, ImU32 colour) {
    const float r = size / 2;
    if (severity == Severity::info) {
        draw.AddCircleFilled(centre, r * 0.5f, colour);
    } else if (severity == Severity::warning) {
        draw.AddTriangleFilled({centre.x, centre.y - r * 0.8f}, {centre.x + r * 0.9f, centre.y + r * 0.7f},
                               {centre.x - r * 0.9f, centre.y + r * 0.7f}, colour);
    } else {
        const float d = r * 0.6f;
        draw.AddLine({centre.x - d, centre.y - d}, {centre.x + d, centre.y + d}, colour, size / 6);
        draw.AddLine({centre.x - d, centre.y + d}, {centre.x + d, centre.y - d}, colour, size / 6);
    }
}

std::string oneLine(const Message& message) {
    const std::string_view words = translated(message.text);
    std::string text(words.substr(0, words.find('\n')));
    if (!message.hint.empty()) text.append("  ").append(translated(message.hint));
    return text;
}

float statusHeight(const Ui& ui) { return ImGui::GetTextLineHeight() + ui.px(14); }

// One line, as much of it as fits; a click shows the whole text and earlier messages.
void drawStatusMessage(Ui& ui, const Message& message, float room) {
    const ImU32 colour = severityColour(ui.theme, message.severity);
    const float height = ImGui::GetTextLineHeight();
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const std::string shown = fittedText(oneLine(message), room - height - ui.px(4));
    const float width = height + ui.px(4) + textWidth(shown);
    if (ImGui::InvisibleButton("messages", {std::max(width, 1.0f), height})) ImGui::OpenPopup("all messages");
    ui.noteControl("messages", "The latest message. Click to read all of it, and earlier ones.");
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    drawSeverity(draw, {start.x + height / 2, start.y + height / 2}, height, message.severity, colour);
    draw.AddText({start.x + height + ui.px(4), start.y}, ImGui::IsItemHovered() ? ui.theme.text : colour,
                 shown.c_str());
}

void drawMessages(Ui& ui) {
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({ui.px(12), display.y - statusHeight(ui) - ui.px(6)}, ImGuiCond_Always, {0, 1});
    ImGui::SetNextWindowSize({std::min(display.x - ui.px(24), ui.px(640)), 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(16), ui.px(14)});
    if (ImGui::BeginPopup("all messages")) {
        constexpr std::size_t most = 8;
        const std::size_t count = ui.messages.size();
        for (std::size_t i = count > most ? count - most : 0; i < count; ++i) {
            const Message& message = ui.messages[i];
            ui.paragraph(message.text, severityColour(ui.theme, message.severity));
            if (!message.hint.empty()) ui.paragraph(message.hint);
        }
        ImGui::EndPopup();
    }
    ImGui::PopStyleVar();
}

} // namespace

float statusLineRoom(const Ui& ui) { return ui.presenter ? 0 : statusHeight(ui); }

void drawStatusLine(Ui& ui) {
    const Message* last = ui.messages.size() <= ui.dismissed ? nullptr : &ui.messages.back();
    if (last != nullptr && last->severity == Severity::info && ui.now - last->time >= infoSeconds)
        last = nullptr;
    if (ui.presenter && !ui.hidingControls && last == nullptr) return;
    const Theme& theme = ui.theme;
    const float padding = ui.px(16);
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    const ImVec2 start{0, display.y - statusHeight(ui)};
    const float top = start.y + (statusHeight(ui) - ImGui::GetTextLineHeight()) / 2;
    ImGui::SetCursorScreenPos(start);
    ImGui::PushStyleColor(ImGuiCol_ChildBg, theme.panel);
    ImGui::PushStyleVar(ImGuiStyleVar_ChildRounding, 0);
    ImGui::BeginChild("status", {display.x, statusHeight(ui)}, false, ImGuiWindowFlags_NoScrollbar);
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
    ImGui::GetWindowDrawList()->AddLine(start, {display.x, start.y}, theme.border, ui.line());
    const float room = display.x - 2 * padding;
    ImGui::SetCursorScreenPos({padding, top});
    if (ui.hidingControls)
        ui.text(fittedText("Click what to hide, or an outline to show it again; Esc when done.", room),
                theme.warning);
    else if (last != nullptr)
        drawStatusMessage(ui, *last, room);
    else
        ui.muted(fittedText("F1: keys and glossary", room));
    drawMessages(ui);
    ImGui::EndChild();
}

} // namespace lockstep::demos
