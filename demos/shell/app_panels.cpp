// The panels around the exhibit: the list on the left, details on the right, the status line below.
#include <algorithm>

#include <fmt/format.h>

#include "demos/kit/exhibit.h"
#include "demos/shell/app.h"

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

// Among the hidden controls.
std::string hidingName(const Exhibit& exhibit) { return "exhibit/" + std::string(exhibit.id()); }

float statusHeight(const Ui& ui) { return ImGui::GetTextLineHeight() + ui.px(14); }

// A presenter's exhibit has the whole height: what is said there lies over it while it is said.
float statusRoom(const Ui& ui) { return ui.presenter ? 0 : statusHeight(ui); }

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

struct ListEntry {
    std::string_view title;
    std::string_view about; // under the mouse
    bool chosen = false;
    bool hidden = false; // its place stays
};

using DrawSign = std::function<void(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour)>;

// The sign above the title, as wide as the list. True when it was pressed.
bool drawListEntry(Ui& ui, const ListEntry& entry, const DrawSign& sign) {
    const Theme& theme = ui.theme;
    const SmallLetters small(ui);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const float signSize = ui.px(24);
    const float padding = ui.px(12);
    const float height = signSize + ImGui::GetTextLineHeight() + 2 * padding + ui.px(6);
    const ImVec2 end{start.x + width, start.y + height};
    const bool pressed = ImGui::InvisibleButton(std::string(entry.title).c_str(), {width, height});
    if (entry.hidden) return pressed;
    ui.explainItem({.title = std::string(entry.title), .text = std::string(entry.about)});
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    if (entry.chosen || ImGui::IsItemHovered())
        draw.AddRectFilled(start, end, entry.chosen ? theme.raised : faded(theme.raised, 0.5f), ui.px(8));
    const ImU32 colour = entry.chosen ? theme.text : theme.muted;
    const float middle = start.x + width / 2;
    sign(draw, {middle, start.y + padding + signSize / 2}, signSize, colour);
    const std::string title = fittedText(entry.title, width);
    draw.AddText({middle - textWidth(title) / 2, end.y - padding - ImGui::GetTextLineHeight()}, colour,
                 title.c_str());
    return pressed;
}

} // namespace

void App::toggleDetails() {
    const bool wanted = !ui_->detailsWanted || !ui_->detailPanel;
    detailsChosen_ = wanted == lessonIsHere() ? std::nullopt : std::optional(wanted);
    ui_->detailsWanted = wanted;
    if (wanted && sidePanels(*ui_).details == 0)
        ui_->say(Severity::info, "The window is too narrow for the details.",
                 "Numbers stand beside the pointer.");
}

void App::drawMiddle() {
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    const float top = ImGui::GetCursorPosY() - ImGui::GetStyle().ItemSpacing.y;
    const float height = std::max(1.0f, display.y - top - statusRoom(*ui_));
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
        ImGui::BeginChild(id, {std::max(1.0f, width), height}, false,
                          ImGuiWindowFlags_AlwaysUseWindowPadding);
        ImGui::PopStyleVar(2);
        ImGui::PopStyleColor();
        draw();
        ImGui::EndChild();
    };
    const ImVec2 wide{ui_->px(16), ui_->px(14)};
    const auto drawExhibits = [this] {
        ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, ui_->px(4)});
        const ImVec2 start = ImGui::GetCursorScreenPos();
        const std::vector<std::size_t> listed = listedExhibits();
        Place chosen;
        for (std::size_t i = 0; i < exhibits_.size(); ++i) {
            const bool gone = std::ranges::find(listed, i) == listed.end();
            if (gone && !ui_->hidingControls) continue;
            if (const Place place = drawExhibitEntry(i, gone); i == shown_) chosen = place;
        }
        const float inset = ui_->px(12);
        const float from = start.y + ui_->eased("exhibit/top", chosen.min.y - start.y) + inset;
        const float to = start.y + ui_->eased("exhibit/bottom", chosen.max.y - start.y) - inset;
        ImGui::GetWindowDrawList()->AddRectFilled({start.x, from}, {start.x + ui_->px(3), to},
                                                  ui_->theme.text, ui_->px(2));
        ImGui::Separator();
        drawLessonEntry();
        ImGui::PopStyleVar();
    };
    if (left > 0) part("exhibits", 0, left, true, {ui_->px(6), ui_->px(12)}, drawExhibits);
    ui_->lessonAsks = lessonIsHere() && desk_.open()->step().ask;
    part("exhibit", left, display.x - left - right, false, wide, [&] {
        if (right == 0) drawLessonPart(false);
        exhibitPlace_.min = ImGui::GetCursorScreenPos();
        const ImVec2 room = ImGui::GetContentRegionAvail();
        exhibitPlace_.max = {exhibitPlace_.min.x + room.x, exhibitPlace_.min.y + room.y};
        exhibit().draw(*ui_);
    });
    ui_->prose = 0;
    ui_->lessonShown = lessonIsHere();
    if (right > 0) part("details", display.x - right, right, true, wide, [this] { drawDetails(); });
    ImGui::SetCursorPos({0, top + height});
}

// The one that is shown is always listed.
std::vector<std::size_t> App::listedExhibits() const {
    std::vector<std::size_t> listed;
    for (std::size_t i = 0; i < exhibits_.size(); ++i)
        if (i == shown_ || !ui_->hidden(hidingName(*exhibits_[i]).c_str())) listed.push_back(i);
    return listed;
}

void App::hideExhibit(std::size_t index) {
    if (index == shown_) {
        const std::vector<std::size_t> listed = listedExhibits();
        const auto other = std::ranges::find_if(listed, [&](std::size_t i) { return i != shown_; });
        if (other == listed.end())
            return ui_->say(Severity::info, "One exhibit must stay in the list.",
                            "Click an outline to bring another one back.");
        showExhibit(exhibits_[*other]->id());
    }
    ui_->hiddenControls.insert(hidingName(*exhibits_[index]));
}

Place App::drawExhibitEntry(std::size_t index, bool gone) {
    Exhibit& entry = *exhibits_[index];
    const auto icon = [&](ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) {
        entry.drawIcon(draw, centre, size, colour);
    };
    const bool clicked = drawListEntry(*ui_, {entry.title(), entry.blurb(), index == shown_, gone}, icon);
    const Place place{ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
    ui_->noteControl(entry.title(), entry.words());
    if (ui_->hidingControls && ui_->hidingClick(entry.title(), entry.words(), gone)) {
        if (gone)
            ui_->hiddenControls.erase(hidingName(entry));
        else
            hideExhibit(index);
    }
    // Not while this one is being drawn.
    if (clicked && !gone && !ui_->hidingControls) later_ = [this, index] { choose(*exhibits_[index]); };
    return place;
}

// Lessons stand in sight, because a menu alone would hide them.
void App::drawLessonEntry() {
    const auto icon = [](ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) {
        const float r = size / 2;
        for (const float line : {-0.6f, 0.0f, 0.6f}) {
            draw.AddCircleFilled({centre.x - 0.8f * r, centre.y + line * r}, size / 12, colour);
            draw.AddLine({centre.x - 0.4f * r, centre.y + line * r}, {centre.x + r, centre.y + line * r},
                         colour, size / 12);
        }
    };
    const bool open = desk_.open() != nullptr && !desk_.open()->lesson().name.empty();
    const bool clicked = drawListEntry(
        *ui_,
        {"Lessons", "Paths through the exhibits, from the first question to your own measurement", open},
        icon);
    ui_->noteControl("Lessons", lessonsWords);
    if (clicked && !ui_->hidingControls) {
        desk_.look();
        help_ = true;
        helpPage_ = lessonsPage;
    }
}

void App::drawDetails() {
    drawLessonPart(true);
    if (!ui_->hovered) {
        exhibit().drawDetails(*ui_);
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

void App::drawStatus() {
    const Message* last = ui_->messages.size() <= ui_->dismissed ? nullptr : &ui_->messages.back();
    if (last != nullptr && last->severity == Severity::info && ui_->now - last->time >= infoSeconds)
        last = nullptr;
    if (ui_->presenter && !ui_->hidingControls && last == nullptr) return;
    const Theme& theme = ui_->theme;
    const float padding = ui_->px(16);
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    const ImVec2 start{0, display.y - statusHeight(*ui_)};
    const float top = start.y + (statusHeight(*ui_) - ImGui::GetTextLineHeight()) / 2;
    ImGui::SetCursorScreenPos(start);
    ImGui::PushStyleColor(ImGuiCol_ChildBg, theme.panel);
    ImGui::PushStyleVar(ImGuiStyleVar_ChildRounding, 0);
    ImGui::BeginChild("status", {display.x, statusHeight(*ui_)}, false, ImGuiWindowFlags_NoScrollbar);
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
    ImGui::GetWindowDrawList()->AddLine(start, {display.x, start.y}, theme.border, ui_->line());
    const std::string time =
        frameMilliseconds_ && !ui_->presenter ? fmt::format("{:.1f} ms/frame", *frameMilliseconds_) : "";
    const float timeLeft = display.x - padding - textWidth(time);
    const float room = timeLeft - 2 * padding;
    ImGui::SetCursorScreenPos({padding, top});
    if (ui_->hidingControls)
        ui_->text(fittedText("Click what to hide, or an outline to show it again; Esc when done.", room),
                  theme.warning);
    else if (last != nullptr)
        drawStatusMessage(*ui_, *last, room);
    else
        ui_->muted(fittedText("F1: keys and glossary", room));
    ImGui::SetCursorScreenPos({timeLeft, top});
    ui_->muted(time);
    drawMessages(*ui_);
    ImGui::EndChild();
}

} // namespace lockstep::demos
