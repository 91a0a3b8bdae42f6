// What a control is for, beside it; and Tab, which leads the keyboard through all controls. ImGui's own Tab
// visits text fields only, and its focus can be set by name through its internal functions alone.
#include <algorithm>
#include <array>
#include <cmath>

#include <imgui.h>
#include <imgui_internal.h>

#include "demos/draw/ui.h"
#include "demos/words/glossary.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr double secondsToExplain = 0.5;
constexpr std::size_t mostTermsNamed = 4;
constexpr std::size_t mostValues = 6; // of details: the box must leave the exhibit in sight

// What was focused last is in this window: a popup, the page of keys, or the main window.
const void* focusedWindow() {
    const ImGuiWindow* window = ImGui::GetCurrentContext()->NavWindow;
    return window != nullptr ? window->RootWindow : nullptr;
}

void showFocus() {
#if IMGUI_VERSION_NUM >= 19140
    ImGui::SetNavCursorVisible(true);
#else
    ImGuiContext& context = *ImGui::GetCurrentContext();
    context.NavDisableHighlight = false;
    context.NavDisableMouseHover = true;
#endif
}

} // namespace

ImVec2 beside(const Place& place, ImVec2 size, ImVec2 window, float edge, bool sideways, ImVec2 pointer) {
    const auto inside = [&](float x, float y) {
        return ImVec2{std::clamp(x, edge, std::max(edge, window.x - size.x - edge)),
                      std::clamp(y, edge, std::max(edge, window.y - size.y - edge))};
    };
    const auto apart = [&](ImVec2 at) {
        return at.x >= place.max.x || at.x + size.x <= place.min.x || at.y >= place.max.y ||
               at.y + size.y <= place.min.y;
    };
    const ImVec2 left = inside(place.min.x - edge - size.x, place.min.y);
    const ImVec2 right = inside(place.max.x + edge, place.min.y);
    const ImVec2 above = inside(place.min.x, place.min.y - edge - size.y);
    const ImVec2 below = inside(place.min.x, place.max.y + edge);
    for (const ImVec2 at :
         sideways ? std::array{right, left, below, above} : std::array{below, above, right, left})
        if (apart(at)) return at;
    const bool pointsHigh = pointer.y < (place.min.y + place.max.y) / 2;
    return inside(place.min.x, pointsHigh ? place.max.y - edge - size.y : place.min.y + edge);
}

void Ui::moveFocus(int by) {
    if (const ImGuiID active = ImGui::GetActiveID(); active != 0) {
        const ImGuiInputTextState* typed = ImGui::GetInputTextState(active);
        if (typed != nullptr && (typed->Flags & ImGuiInputTextFlags_AllowTabInput) != 0) {
            ImGui::GetIO().AddInputCharacter('\t');
            return;
        }
        ImGui::ClearActiveID(); // a text field takes what was typed
    }
    std::vector<Stop> stops = lastStops_;
    const void* window = focusedWindow();
    if (window == nullptr && !stops.empty()) window = stops.front().window;
    std::erase_if(stops, [window](const Stop& stop) { return stop.window != window; });
    if (stops.empty()) return;
    const auto count = static_cast<int>(stops.size());
    const auto at = static_cast<int>(std::ranges::find(stops, true, &Stop::current) - stops.begin());
    const int from = at < count ? at : (by > 0 ? -1 : 0);
    focusWish_ = stops[static_cast<std::size_t>((from + by + count) % count)].name;
}

bool Ui::typeDigit(char digit) {
    const bool shown =
        std::ranges::any_of(lastStops_, [this](const Stop& stop) { return stop.name == lastSlider_; });
    if (!shown || lastSlider_ != lastUsed_) return false;
    typing_ = Typing{lastSlider_, digit};
    return true;
}

void Ui::feedSlider(const char* label) {
    if (!typing_ || typing_->slider != label) return;
    const ImGuiID item = ImGui::GetID(translatedLabel(label).c_str());
    if (ImGui::GetActiveID() != item || !ImGui::GetIO().WantTextInput) return;
    if (typing_->first != 0) ImGui::GetIO().AddInputCharacter(static_cast<unsigned>(typing_->first));
    typing_.reset();
}

bool Ui::noteSlider(const char* label) {
    const ImGuiID item = ImGui::GetItemID();
    if (item == 0 || (ImGui::GetItemFlags() & ImGuiItemFlags_Inputable) == 0) return false;
    if (ImGui::IsItemActive()) lastSlider_ = label;
    if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) typing_ = Typing{label};
    if (!typing_ || typing_->slider != label) return true;
    ImGuiContext& context = *ImGui::GetCurrentContext();
    context.NavNextActivateId = item;
    context.NavNextActivateFlags = ImGuiActivateFlags_PreferInput;
    return true;
}

void Ui::noteStop(const char* name) {
    const ImGuiID item = ImGui::GetItemID();
    const ImGuiItemFlags flags = ImGui::GetItemFlags();
    if (item == 0 || (flags & ImGuiItemFlags_Disabled) != 0) return;
    ImGuiWindow* window = ImGui::GetCurrentWindowRead();
    if (focusWish_ == name) {
        focusWish_.clear();
        ImGui::SetFocusID(item, window);
        showFocus();
        ImGui::ScrollToItem();
    }
    // Without a frame to be seen, Tab goes on from what was last used.
    if (ImGui::IsItemActive()) lastUsed_ = name;
    const bool focused = ImGui::GetIO().NavVisible && ImGui::GetFocusID() == item;
    const bool current = ImGui::GetIO().NavVisible ? focused : lastUsed_ == name;
    stops_.push_back({name, window->RootWindow, current});
    if (!focused) return;
    // ImGui frames its own widgets, but no areas.
    if (ImGui::IsItemVisible()) {
        const ImVec2 low = ImGui::GetItemRectMin();
        const ImVec2 high = ImGui::GetItemRectMax();
        const float gap = px(3);
        ImGui::GetForegroundDrawList()->AddRect({low.x - gap, low.y - gap}, {high.x + gap, high.y + gap},
                                                theme.gpu, px(6), 0, line(2));
    }
#if IMGUI_VERSION_NUM < 18900
    // Later versions press with Enter, too. Where numbers or text can be typed, Enter begins with that.
    const bool enter = ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Enter), false);
    if (enter && ImGui::GetActiveID() == 0 && (flags & ImGuiItemFlags_Inputable) == 0)
        ImGui::ActivateItem(item);
#endif
}

void Ui::drawExplanation() {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (ImGui::IsAnyMouseDown()) pressedAt_ = mouse;
    const float moved = std::max(std::abs(mouse.x - pressedAt_.x), std::abs(mouse.y - pressedAt_.y));
    const bool typing = ImGui::GetIO().WantTextInput;
    quiet_ = typing || (moved < px(3) && !(pointed_ && pointed_->byKeyboard));
    std::string name;
    if (pointed_ && !quiet_)
        name = pointed_->name;
    else if (detailUnshown() && !quiet_)
        name = hovered->title;
    if (name != explainedName_) {
        explainedName_ = name;
        pointedSince_ = now;
    }
    const double wait = detailUnshown() && hovered->atOnce ? 0 : secondsToExplain;
    explained_ = !name.empty() && now - pointedSince_ >= wait;
    if (!explained_) return;

    // What the details would say, or else what the control is for.
    std::vector<std::pair<std::string, ImU32>> texts;
    if (detailUnshown()) {
        texts.emplace_back(translated(hovered->title), theme.text);
        if (!hovered->formula.empty()) texts.emplace_back(hovered->formula, theme.text);
        for (std::size_t i = 0; i < std::min(hovered->values.size(), mostValues); ++i) {
            const auto& [row, value] = hovered->values[i];
            std::string of = row.empty() ? "" : std::string(translated(row)) + ": ";
            texts.emplace_back(of.append(translated(value)), theme.muted);
        }
        if (!hovered->text.empty()) texts.emplace_back(translated(hovered->text), theme.text);
    } else if (const std::string& words = pointed_->words; !words.empty()) {
        texts.emplace_back(translated(words), theme.text);
        std::string terms;
        for (const Term* term : termsIn(words, mostTermsNamed))
            terms.append(terms.empty() ? translated("F1 explains: ") : ", ").append(translated(term->name));
        if (pointed_->typed) texts.emplace_back(translated("Double-click to type a number."), theme.muted);
        if (!terms.empty()) texts.emplace_back(terms, theme.muted);
    }
    if (texts.empty()) return;
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    const float padding = px(10);
    const float edge = px(6); // of the window, and of the control
    const float room = std::max(std::min(px(340), display.x - 2 * (padding + edge)), 1.0f);
    std::vector<std::pair<std::string_view, ImU32>> lines;
    float width = 0;
    for (const auto& [text, colour] : texts)
        for (const std::string_view line : linesAtBlanks(text, room, lettersWidth)) {
            lines.emplace_back(line, colour);
            width = std::max(width, lettersWidth(line));
        }
    const float height = ImGui::GetTextLineHeight();
    const ImVec2 size{width + 2 * padding, height * static_cast<float>(lines.size()) + 2 * padding};
    const float around = px(12); // the mouse
    const Place atMouse{{mouse.x - around, mouse.y - around}, {mouse.x + around, mouse.y + around}};
    // Beside an entry of a list, which goes on below: an open one, or that of the exhibits at the left.
    const bool open = ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup) && name.find('/') != std::string::npos;
    // Details are of a point in a large control: of an operation, a tensor's value, a network of the map.
    const bool large = pointed_ && pointed_->place.max.x - pointed_->place.min.x > px(240);
    const bool ofPoint = detailUnshown() && large && !pointed_->byKeyboard;
    const Place place = pointed_ && !ofPoint ? pointed_->place : atMouse;
    const bool listed = open || place.max.x < px(100);
    const ImVec2 low = beside(place, size, display, edge, listed, mouse);

    ImDrawList& draw = *ImGui::GetForegroundDrawList();
    const ImVec2 high{low.x + size.x, low.y + size.y};
    draw.AddRectFilled(low, high, theme.raised, px(6));
    draw.AddRect(low, high, theme.border, px(6), 0, line());
    ImVec2 at{low.x + padding, low.y + padding};
    for (const auto& [text, colour] : lines) {
        draw.AddText(at, colour, text.data(), text.data() + text.size());
        at.y += height;
    }
}

} // namespace lockstep::demos
