#include "demos/shell/exhibit_list.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "engine/net/names.h"

namespace lockstep::demos {

namespace {

// Among the hidden controls.
std::string hidingName(const Exhibit& exhibit) { return "exhibit/" + entryOf(exhibit.id()); }

struct ListEntry {
    std::string_view title;
    std::string_view about; // under the mouse
    bool chosen = false;
    bool hidden = false; // its place stays
};

using DrawSign = std::function<void(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour)>;

constexpr const char* lessonsGroup = "Learn";
constexpr float captionLetters = 0.75f; // of the body's
constexpr float signUnits = 24;
constexpr float leastSignUnits = 18;
constexpr float entryUnits = 64; // of an entry, where there is room

float smallLine(const Ui& ui) { return ui.fonts.small->FontSize; }

float captionHeight(const Ui& ui) { return captionLetters * ImGui::GetFontSize() + ui.px(8); }

// All entries in sight, as long as sign and title have room above each other.
float entryHeight(const Ui& ui, std::size_t entries, std::size_t captions) {
    const float room = ImGui::GetContentRegionAvail().y - static_cast<float>(captions) * captionHeight(ui);
    const float least = ui.px(leastSignUnits + 8) + smallLine(ui);
    return std::floor(std::clamp(room / static_cast<float>(entries), least, ui.px(entryUnits)));
}

// A group's name; a line divides it from the group above.
void drawCaption(const Ui& ui, const char* group, bool first) {
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const float letters = captionLetters * ImGui::GetFontSize();
    const std::string_view name = translated(group);
    const char* const end = name.data() + name.size();
    const float needed = ui.fonts.small->CalcTextSizeA(letters, FLT_MAX, 0, name.data(), end).x;
    const float fitting = needed > width ? letters * width / needed : letters;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    if (!first)
        draw.AddLine({start.x, start.y + ui.px(2)}, {start.x + width, start.y + ui.px(2)}, ui.theme.border,
                     ui.line());
    draw.AddText(ui.fonts.small, fitting, {start.x + std::max(0.0f, width - needed) / 2, start.y + ui.px(6)},
                 ui.theme.muted, name.data(), end);
    ImGui::Dummy({width, captionHeight(ui)});
}

// The sign above the title, as wide as the list. True when it was pressed.
bool drawListEntry(Ui& ui, const ListEntry& entry, float height, const DrawSign& sign) {
    const Theme& theme = ui.theme;
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const bool pressed = ImGui::InvisibleButton(std::string(entry.title).c_str(), {width, height});
    if (entry.hidden) return pressed;
    ui.explainItem({.title = std::string(entry.title), .text = std::string(entry.about)});
    const SmallLetters small(ui);
    const float line = ImGui::GetTextLineHeight();
    const float signSize = std::clamp(height - line - ui.px(16), ui.px(leastSignUnits), ui.px(signUnits));
    const float between = std::clamp(height - signSize - line - ui.px(8), 0.0f, ui.px(5));
    const float top = start.y + (height - signSize - between - line) / 2;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float edge = ui.px(1); // between two entries
    if (entry.chosen || ImGui::IsItemHovered())
        draw.AddRectFilled({start.x, start.y + edge}, {start.x + width, start.y + height - edge},
                           entry.chosen ? theme.raised : faded(theme.raised, 0.5f), ui.px(8));
    const ImU32 colour = entry.chosen ? theme.text : theme.muted;
    const float middle = start.x + width / 2;
    sign(draw, {middle, top + signSize / 2}, signSize, colour);
    const std::string title = fittedText(entry.title, width);
    draw.AddText({middle - lettersWidth(title) / 2, top + signSize + between}, colour, title.c_str());
    return pressed;
}

// Lessons stand in sight, because a menu alone would hide them.
bool drawLessons(Ui& ui, bool open, float height) {
    const auto icon = [](ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) {
        const float r = size / 2;
        for (const float line : {-0.6f, 0.0f, 0.6f}) {
            draw.AddCircleFilled({centre.x - 0.8f * r, centre.y + line * r}, size / 12, colour);
            draw.AddLine({centre.x - 0.4f * r, centre.y + line * r}, {centre.x + r, centre.y + line * r},
                         colour, size / 12);
        }
    };
    const bool clicked = drawListEntry(
        ui, {"Lessons", "Paths through the exhibits, from the first question to your own measurement", open},
        height, icon);
    ui.noteControl("Lessons", lessonsWords);
    return clicked && !ui.hidingControls;
}

} // namespace

ExhibitList::ExhibitList(std::vector<std::unique_ptr<Exhibit>> exhibits) : exhibits_(std::move(exhibits)) {
    for (const auto& entry : exhibits_) entry->setSpeed(entry->usualSpeed());
}

void ExhibitList::show(std::string_view id) {
    std::vector<std::string_view> known;
    for (std::size_t i = 0; i < exhibits_.size(); ++i) {
        known.push_back(exhibits_[i]->id());
        if (exhibits_[i]->id() != id) continue;
        if (i != shown_) shown().pause();
        shown_ = i;
        lastOf_[entryAt(i)] = id;
        return;
    }
    throwUnknownName("exhibit", id, known);
}

std::vector<std::size_t> ExhibitList::listed(const Ui& ui) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < exhibits_.size(); ++i)
        if (entryAt(i) == entryAt(shown_) || !ui.hidden(hidingName(*exhibits_[i]).c_str()))
            found.push_back(i);
    return found;
}

std::size_t ExhibitList::leadsTo(const std::string& entry) const {
    const auto last = lastOf_.find(entry);
    const std::string_view id = last == lastOf_.end() ? std::string_view(entry) : last->second;
    const auto found = std::ranges::find(exhibits_, id, [](const auto& exhibit) { return exhibit->id(); });
    return static_cast<std::size_t>(found - exhibits_.begin());
}

std::vector<std::size_t> ExhibitList::entries(const Ui& ui) const {
    std::vector<std::size_t> found;
    for (const std::size_t i : listed(ui))
        if (const std::size_t leads = leadsTo(entryAt(i)); std::ranges::find(found, leads) == found.end())
            found.push_back(leads);
    return found;
}

void ExhibitList::setSpeed(std::size_t exhibit, std::size_t index) {
    chosenSpeeds_[exhibits_[exhibit]->id()] = index;
    exhibits_[exhibit]->setSpeed(speedTable[index].stepsPerSecond);
}

std::size_t ExhibitList::shownSpeed() const {
    if (const auto chosen = chosenSpeeds_.find(exhibits_[shown_]->id()); chosen != chosenSpeeds_.end())
        return chosen->second;
    return flatOut_ ? 0 : speedIndex(exhibits_[shown_]->usualSpeed());
}

std::size_t ExhibitList::speedIndex(Speed stepsPerSecond) {
    const auto found = std::ranges::find(speedTable, stepsPerSecond, &NamedSpeed::stepsPerSecond);
    if (found == std::end(speedTable))
        throw std::invalid_argument(
            fmt::format("the speed {} is not in the list: 0 is flat out, 60 is 60 steps/s", stepsPerSecond));
    return static_cast<std::size_t>(found - std::begin(speedTable));
}

std::optional<Speed> ExhibitList::chosenSpeed(std::size_t exhibit) const {
    const auto chosen = chosenSpeeds_.find(exhibits_[exhibit]->id());
    if (chosen == chosenSpeeds_.end()) return {};
    return speedTable[chosen->second].stepsPerSecond;
}

void ExhibitList::setFlatOut() {
    flatOut_ = true;
    forAll([](Exhibit& exhibit) { exhibit.setSpeed(0); });
}

void ExhibitList::exchange() {
    shown().pause();
    std::swap(exhibits_, aside_.exhibits);
    std::swap(shown_, aside_.shown);
    std::swap(chosenSpeeds_, aside_.chosenSpeeds);
    isAside_ = !isAside_;
}

void ExhibitList::putAside() {
    if (isAside_) return;
    if (aside_.exhibits.empty()) {
        aside_.exhibits = makeExhibits();
        for (const auto& entry : aside_.exhibits) entry->setSpeed(flatOut_ ? 0 : entry->usualSpeed());
    }
    const std::string_view id = shown().id();
    exchange();
    show(id);
}

void ExhibitList::bringBack() {
    if (isAside_) exchange();
}

ExhibitList::Press ExhibitList::draw(Ui& ui, bool lessonOpen) {
    Press press;
    const std::vector<std::size_t> visible = listed(ui);
    std::vector<std::size_t> entries; // with the outlines of those that can be brought back
    std::size_t captions = 1;         // that of the lessons
    const auto group = [this](std::size_t i) { return std::string_view(groupOf(exhibits_[i]->id())); };
    for (std::size_t i = 0; i < exhibits_.size(); ++i) {
        if (entryAt(i) != exhibits_[i]->id()) continue; // it stands in another's
        const bool gone = std::ranges::find(visible, i) == visible.end();
        if (gone && !ui.hidingControls) continue;
        captions += entries.empty() || group(i) != group(entries.back()) ? 1 : 0;
        entries.push_back(i);
    }
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float height = entryHeight(ui, entries.size() + 1, captions);
    Place chosen;
    for (std::size_t at = 0; at < entries.size(); ++at) {
        const std::size_t i = entries[at];
        if (at == 0 || group(i) != group(entries[at - 1]))
            drawCaption(ui, groupOf(exhibits_[i]->id()), at == 0);
        const bool gone = std::ranges::find(visible, i) == visible.end();
        if (const Place place = drawExhibit(ui, i, height, gone, press); entryAt(i) == entryAt(shown_))
            chosen = place;
    }
    const float inset = height / 5;
    const float from = start.y + ui.eased("exhibit/top", chosen.min.y - start.y) + inset;
    const float to = start.y + ui.eased("exhibit/bottom", chosen.max.y - start.y) - inset;
    ImGui::GetWindowDrawList()->AddRectFilled({start.x, from}, {start.x + ui.px(3), to}, ui.theme.text,
                                              ui.px(2));
    drawCaption(ui, lessonsGroup, false);
    press.lessons = drawLessons(ui, lessonOpen, height);
    ImGui::PopStyleVar();
    return press;
}

void ExhibitList::hide(Ui& ui, std::size_t index) {
    if (entryAt(index) == entryAt(shown_)) {
        const std::vector<std::size_t> others = listed(ui);
        const auto other =
            std::ranges::find_if(others, [&](std::size_t i) { return entryAt(i) != entryAt(shown_); });
        if (other == others.end())
            return ui.say(Severity::info, "One exhibit must stay in the list.",
                          "Click an outline to bring another one back.");
        show(exhibits_[*other]->id());
    }
    ui.hiddenControls.insert(hidingName(*exhibits_[index]));
}

Place ExhibitList::drawExhibit(Ui& ui, std::size_t index, float height, bool gone, Press& press) {
    Exhibit& entry = *exhibits_[index];
    const auto icon = [&](ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) {
        entry.drawIcon(draw, centre, size, colour);
    };
    const bool clicked = drawListEntry(
        ui, {entry.title(), entry.blurb(), entryAt(index) == entryAt(shown_), gone}, height, icon);
    const Place place{ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
    ui.noteControl(entry.title(), entry.words());
    if (ui.hidingControls && ui.hidingClick(entry.title(), entry.words(), gone)) {
        if (gone)
            ui.hiddenControls.erase(hidingName(entry));
        else
            hide(ui, index);
    }
    if (clicked && !gone && !ui.hidingControls) press.exhibit = leadsTo(entryAt(index));
    return place;
}

std::optional<std::size_t> ExhibitList::drawShared(Ui& ui) const {
    std::vector<std::size_t> shared;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < exhibits_.size(); ++i)
        if (entryAt(i) == entryAt(shown_)) {
            shared.push_back(i);
            names.emplace_back(exhibits_[i]->title());
        }
    if (shared.size() < 2) return {};
    auto at = static_cast<std::size_t>(std::ranges::find(shared, shown_) - shared.begin());
    if (!ui.segments("##shared entry", "Exhibits that belong together.", at, names)) return {};
    return shared[at];
}

} // namespace lockstep::demos
