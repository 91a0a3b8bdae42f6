#include "demos/shell/help_pages.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "demos/kit/assets.h"
#include "demos/shell/files.h"
#include "demos/sound/sound.h"
#include "demos/words/glossary.h"
#include "engine/files/file_bytes.h"
#include "lockstep/version.h"

namespace lockstep::demos {

namespace {

void drawKeys(Ui& ui) {
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
    const float column = keyWidth * 1.1f + ui.px(24);
    for (const auto& [key, what] : keys) {
        ui.text(key, 0, ui.fonts.strong);
        ImGui::SameLine(column);
        ui.paragraph(what);
    }
    if (!Sound::available()) ui.muted("The View menu has no sound: this program was built without OpenAL.");
}

/// A row of assets/licences/libraries.json.
struct Library {
    std::string name;
    std::string use; ///< "reads gzip"
    std::string licence;
};

// Empty where the file is missing or damaged.
std::vector<Library> readLibraries() {
    std::vector<Library> libraries;
    try {
        const std::vector<std::byte> bytes = readFileBytes(assetFolder("licences") / "libraries.json");
        for (const auto& row : nlohmann::json::parse(asText(bytes)))
            libraries.push_back({row.at("name"), row.at("use"), row.at("licence")});
    } catch (const std::exception&) {
        libraries.clear();
    }
    return libraries;
}

void drawAbout(Ui& ui) {
    static const std::vector<Library> libraries = readLibraries();
    ui.headline("Lockstep " LOCKSTEP_VERSION);
    ui.paragraph("Trains neural networks on your graphics card and races it against your processor.");
    ui.paragraph("By the Lockstep authors, under the MIT license.");
    ui.paragraph("Nothing leaves this machine: Lockstep has no network code.");
    ImGui::Dummy({0, ui.px(8)});
    ui.heading("Libraries, fonts and data inside");
    if (libraries.empty()) ui.muted("The list of libraries was not found beside the program.");
    // A line each: what it is, what it does here, and its licence; in a narrow window the first two.
    float names = 0;
    float uses = 0;
    for (const Library& library : libraries) {
        names = std::max(names, lettersWidth(library.name) + ui.px(24));
        uses = std::max(uses, textWidth(library.use) + ui.px(24));
    }
    for (const Library& library : libraries) {
        ui.text(library.name, 0, ui.fonts.strong);
        ImGui::SameLine(names);
        ui.text(fittedText(library.use, ImGui::GetContentRegionAvail().x));
        ImGui::SameLine(names + uses);
        ui.muted(fittedText(library.licence, ImGui::GetContentRegionAvail().x));
    }
    const std::filesystem::path texts = assetFolder("licences");
    std::error_code unknown;
    if (std::filesystem::exists(texts / "LIBRARIES.txt", unknown))
        ui.paragraph(translatedFormat("The licences in full are in {}.", shownName(texts)), ui.theme.muted);
}

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

std::optional<std::filesystem::path> HelpPages::draw(Ui& ui, LessonDesk& lessons) {
    std::optional<std::filesystem::path> lesson;
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({size.x / 2, size.y / 2}, ImGuiCond_Always, {0.5f, 0.5f});
    const float units = shows(HelpPage::lessons) ? 1200 : 800; // lessons stand in two columns
    ImGui::SetNextWindowSize(
        {std::min(ui.px(units), size.x - ui.px(16)), std::min(ui.px(900), size.y - ui.px(48))});
    ImGui::PushStyleColor(ImGuiCol_WindowBg, ui.theme.panel);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(24), ui.px(20)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ui.px(10));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, ui.line());
    constexpr ImGuiWindowFlags flags =
        ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings;
    if (ImGui::Begin("Help", &open_, flags)) {
        ui.segments("##help",
                    "Switches between the keys, the glossary, the lessons, and what the program is made of.",
                    page_, std::array<std::string, 4>{"Keys", "Glossary", "Lessons", "About"});
        if (shows(HelpPage::glossary)) {
            ImGui::SameLine(0, ui.px(16));
            ImGui::SetNextItemWidth(-2 * ImGui::GetFrameHeight());
            ui.textField("##glossary", "Shows only terms that contain these letters.", soughtTerm_);
            if (soughtTerm_.empty() && !ImGui::IsItemActive() && !ui.hidden("##glossary")) {
                const ImVec2 padding = ImGui::GetStyle().FramePadding;
                const ImVec2 corner = ImGui::GetItemRectMin();
                drawText(*ImGui::GetWindowDrawList(), {corner.x + padding.x, corner.y + padding.y},
                         ui.theme.muted, "Search");
            }
        }
        ImGui::SameLine(ImGui::GetContentRegionMax().x - ImGui::GetFrameHeight());
        if (ui.button("×##help", "Closes this page (Esc).")) open_ = false;
        ImGui::Dummy({0, ui.px(4)});
        ImGui::BeginChild("help page");
        if (shows(HelpPage::keys))
            drawKeys(ui);
        else if (shows(HelpPage::glossary))
            drawGlossary(ui);
        else if (shows(HelpPage::about))
            drawAbout(ui);
        else
            lesson = drawLessons(ui, lessons);
        ImGui::EndChild();
        constexpr auto inside =
            ImGuiHoveredFlags_ChildWindows | ImGuiHoveredFlags_AllowWhenBlockedByActiveItem;
        if (ImGui::IsMouseClicked(0) && !ImGui::IsWindowHovered(inside)) open_ = false;
    }
    ImGui::End();
    ImGui::PopStyleVar(3);
    ImGui::PopStyleColor();
    return lesson;
}

void HelpPages::drawGlossary(Ui& ui) const {
    bool any = false;
    for (const Term& term : glossaryByName()) {
        if (!mentions(term, soughtTerm_)) continue;
        any = true;
        ui.text(term.name, 0, ui.fonts.strong);
        if (!term.other.empty()) {
            ImGui::SameLine();
            ui.muted(translatedFormat("also {}", translated(term.other)));
        }
        ui.paragraph(term.text);
        if (!term.formula.empty()) ui.paragraph(term.formula);
        ImGui::Dummy({0, ui.px(4)});
    }
    if (!any) ui.muted("No term contains these letters.");
}

namespace {

// Steps done, along the lower edge of the entry of a lesson that is under way: of one that is done, its words
// say how it went.
void drawStepsDone(const Ui& ui, const LessonEntry& entry, const LessonDesk& lessons, ImVec2 left,
                   float room) {
    if (entry.steps == 0 || !lessons.reached(entry.name) || lessons.done(entry.name)) return;
    const float share =
        std::min(1.0f, static_cast<float>(lessons.stepsDone(entry.name)) / static_cast<float>(entry.steps));
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float height = ui.px(3);
    draw.AddRectFilled(left, {left.x + room, left.y + height}, ui.theme.border, height / 2);
    if (share > 0)
        draw.AddRectFilled(left, {left.x + room * share, left.y + height}, ui.theme.accent, height / 2);
}

constexpr float numberUnits = 40; // room for its number in the list

/// What its entry says: its subject, or why it cannot be opened.
const std::string& aboutOf(const LessonEntry& entry) {
    return entry.problem.empty() ? entry.about : entry.problem;
}

// In two lines at most; the second one is cut where there is more.
std::vector<std::string> aboutLines(std::string_view about, float width) {
    const std::string_view text = translated(about);
    const std::vector<std::string_view> lines = linesAtBlanks(text, width, lettersWidth);
    if (lines.empty()) return {};
    std::vector<std::string> shown{std::string(lines.front())};
    if (lines.size() > 1) {
        const auto from = static_cast<std::size_t>(lines[1].data() - text.data());
        shown.push_back(fittedText(text.substr(from), width));
    }
    return shown;
}

constexpr float lessonColumnUnits = 460; // of lessons, at least

/// Where the list has an entry.
struct PlacedLesson {
    std::vector<std::string> lines; ///< of its subject
    float caption = 0;              ///< height of its group's name above it; 0: it opens no group
    float height = 0;
    std::size_t column = 0;
    float y = 0; ///< of the entry itself, below the caption
};

/// Below each other with `gap` between them, `groupGap` more before a group. Columns are about equally long;
/// a group stays together. Returns the longest one's length.
float placeInColumns(std::vector<PlacedLesson>& entries, std::size_t columns, float gap, float groupGap) {
    float all = 0;
    for (const PlacedLesson& entry : entries) all += entry.caption + entry.height + gap;
    float before = 0, y = 0, longest = 0;
    std::size_t column = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        PlacedLesson& entry = entries[i];
        if (entry.caption > 0) {
            float group = 0;
            for (std::size_t k = i; k < entries.size() && (k == i || entries[k].caption == 0); ++k)
                group += entries[k].caption + entries[k].height + gap;
            const auto middle = static_cast<std::size_t>((before + group / 2) * static_cast<float>(columns) /
                                                         std::max(all, 1.0f));
            if (i > 0 && std::min(middle, columns - 1) > column) { // the first column is never left empty
                column = std::min(middle, columns - 1);
                y = 0;
            }
            if (y > 0) y += groupGap;
        }
        entry.column = column;
        entry.y = y + entry.caption;
        y = entry.y + entry.height + gap;
        before += entry.caption + entry.height + gap;
        longest = std::max(longest, y);
    }
    return longest;
}

/// A lesson in the list: number, title, minutes or what became of it, subject.
///   next   the first one that is still to be done: it is framed
void drawLessonEntry(const Ui& ui, const LessonEntry& entry, std::size_t count, bool next,
                     const std::vector<std::string>& lines, ImVec2 at, ImVec2 size,
                     const LessonDesk& lessons) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImVec2 end{at.x + size.x, at.y + size.y};
    draw.AddRectFilled(at, end, ImGui::IsItemHovered() ? ui.theme.hovered : ui.theme.raised, ui.px(6));
    if (next) draw.AddRect(at, end, ui.theme.accent, ui.px(6), 0, ui.line());
    const float line = ImGui::GetTextLineHeight();
    const std::string progress = progressText(entry, lessons);
    const std::string right = progress.empty() ? minutesText(entry.minutes) : progress;
    const float top = at.y + ui.px(5);
    const bool done = lessons.done(entry.name);
    const std::string number = done ? "✓" : std::to_string(count);
    ImGui::PushFont(ui.fonts.strong);
    draw.AddText({at.x + ui.px(30) - lettersWidth(number), top}, done ? ui.theme.good : ui.theme.muted,
                 number.c_str());
    const float left = at.x + ui.px(numberUnits);
    const float wide = size.x - ui.px(numberUnits + 8);
    drawText(draw, {left, top}, ui.theme.text, fittedText(entry.title, wide - textWidth(right) - ui.px(12)));
    ImGui::PopFont();
    draw.AddText({left + wide - textWidth(right), top}, done ? ui.theme.good : ui.theme.muted, right.c_str());
    float y = top + line + ui.px(2);
    for (const std::string& words : lines) {
        draw.AddText({left, y}, entry.problem.empty() ? ui.theme.muted : ui.theme.bad, words.c_str());
        y += line;
    }
    drawStepsDone(ui, entry, lessons, {left, at.y + size.y - ui.px(5)}, wide);
}

} // namespace

std::optional<std::filesystem::path> HelpPages::drawLessons(Ui& ui, LessonDesk& lessons) {
    std::optional<std::filesystem::path> pressed;
    if (lessons.list().empty()) ui.muted("No lessons were found beside the program.");
    if (const std::string all = progressText(lessons.list(), lessons); !all.empty()) {
        ui.paragraph(all, ui.theme.muted);
        ImGui::Dummy({0, ui.px(2)});
    }
    const std::vector<LessonEntry>& entries = lessons.list();
    const float line = ImGui::GetTextLineHeight();
    const ImVec2 page = ImGui::GetContentRegionAvail();
    const float inner = page.x - ImGui::GetStyle().ScrollbarSize;
    const std::size_t columns = inner >= ui.px(2 * lessonColumnUnits) ? 2 : 1;
    const float between = ui.px(24);
    const float room = (inner - between * static_cast<float>(columns - 1)) / static_cast<float>(columns);
    const auto opensGroup = [&](std::size_t i) {
        return !entries[i].group.empty() && (i == 0 || entries[i].group != entries[i - 1].group);
    };
    std::vector<PlacedLesson> placed;
    const float gap = ui.px(5);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        PlacedLesson entry{.lines = aboutLines(aboutOf(entries[i]), room - ui.px(numberUnits + 8))};
        entry.height =
            static_cast<float>(1 + std::max<std::size_t>(entry.lines.size(), 1)) * line + ui.px(14);
        entry.caption = opensGroup(i) ? line + gap : 0;
        placed.push_back(std::move(entry));
    }
    const float longest = placeInColumns(placed, columns, gap, ui.px(10));
    // As many entries as the page holds as a whole; the others are reached by scrolling.
    float whole = 0;
    for (const PlacedLesson& each : placed)
        if (const float end = each.y + each.height; end <= page.y) whole = std::max(whole, end);
    ImGui::BeginChild("lesson list", {0, columns > 1 ? page.y : whole}); // side by side, one is cut anyway
    const ImVec2 start = ImGui::GetCursorPos();
    const auto open = [&](const LessonEntry& entry) { return !lessons.done(entry.name); };
    const auto next = static_cast<std::size_t>(std::ranges::find_if(entries, open) - entries.begin());
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const LessonEntry& entry = entries[i];
        const std::string name = "lesson/" + entry.name;
        const float x = start.x + static_cast<float>(placed[i].column) * (room + between);
        if (opensGroup(i)) {
            ImGui::SetCursorPos({x, start.y + placed[i].y - placed[i].caption});
            ui.text(entry.group, ui.theme.accent, ui.fonts.strong);
        }
        ImGui::SetCursorPos({x, start.y + placed[i].y});
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float height = placed[i].height;
        if (ui.tile(name.c_str(),
                    "Opens this lesson where you left it. Your own settings come back when you close it.",
                    {room, height}) &&
            entry.problem.empty()) {
            open_ = false;
            pressed = entry.file;
        }
        if (ui.hidden(name.c_str())) continue;
        ui.explainItem({.title = entry.title, .text = aboutOf(entry)});
        drawLessonEntry(ui, entry, i + 1, i == next, placed[i].lines, at, {room, height}, lessons);
    }
    ImGui::SetCursorPos(start);
    ImGui::Dummy({inner, longest});
    ImGui::EndChild();
    return pressed;
}

} // namespace lockstep::demos
