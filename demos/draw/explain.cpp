// What a control is for, beside it; and Tab, which leads the keyboard through all controls. ImGui's own Tab
// visits text fields only, and its focus can be set by name through its internal functions alone.
#include <algorithm>
#include <cmath>

#include <imgui.h>
#include <imgui_internal.h>

#include "demos/draw/ui.h"
#include "demos/words/control_words.h"
#include "demos/words/glossary.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr double secondsToExplain = 0.5;
constexpr std::size_t mostTermsNamed = 4;

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

void Ui::drawExplanation(const ControlTables& exhibits) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (ImGui::IsAnyMouseDown()) pressedAt_ = mouse;
    const float moved = std::max(std::abs(mouse.x - pressedAt_.x), std::abs(mouse.y - pressedAt_.y));
    const bool typing = ImGui::GetIO().WantTextInput;
    quiet_ = typing || (moved < px(3) && !(pointed_ && pointed_->byKeyboard));
    const std::string name = pointed_ && !quiet_ ? pointed_->name : std::string();
    if (name != explainedName_) {
        explainedName_ = name;
        pointedSince_ = now;
    }
    explained_ = !name.empty() && now - pointedSince_ >= secondsToExplain;
    const std::string_view words = explained_ ? controlWords(name, exhibits) : std::string_view();
    if (words.empty()) return;

    std::string terms;
    for (const Term* term : termsIn(words, mostTermsNamed))
        terms.append(terms.empty() ? "" : ", ").append(term->name);
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    const float padding = px(10);
    const float edge = px(6); // of the window, and of the control
    const float room = std::max(std::min(px(340), display.x - 2 * (padding + edge)), 1.0f);
    auto lines = linesAtBlanks(words, room, textWidth);
    const std::size_t own = lines.size();
    if (!terms.empty()) {
        terms.insert(0, "F1 explains: ");
        for (const std::string_view line : linesAtBlanks(terms, room, textWidth)) lines.push_back(line);
    }
    float width = 0;
    for (const std::string_view line : lines) width = std::max(width, textWidth(line));
    const float height = ImGui::GetTextLineHeight();
    const ImVec2 size{width + 2 * padding, height * static_cast<float>(lines.size()) + 2 * padding};
    const Place& at = pointed_->place;
    ImVec2 low{at.min.x, at.max.y + edge};
    // Beside an entry of an open list, which goes on below.
    const bool listed =
        ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup) && name.find('/') != std::string::npos;
    if (listed && at.max.x + edge + size.x <= display.x)
        low = {at.max.x + edge, at.min.y};
    else if (listed)
        low = {at.min.x - edge - size.x, at.min.y};
    else if (low.y + size.y > display.y && at.min.y - edge - size.y >= 0)
        low.y = at.min.y - edge - size.y;
    low.x = std::clamp(low.x, edge, std::max(edge, display.x - size.x - edge));
    low.y = std::clamp(low.y, edge, std::max(edge, display.y - size.y - edge));

    ImDrawList& draw = *ImGui::GetForegroundDrawList();
    const ImVec2 high{low.x + size.x, low.y + size.y};
    draw.AddRectFilled(low, high, theme.raised, px(6));
    draw.AddRect(low, high, theme.border, px(6), 0, line());
    ImVec2 text{low.x + padding, low.y + padding};
    for (std::size_t i = 0; i < lines.size(); ++i, text.y += height)
        draw.AddText(text, i < own ? theme.text : theme.muted, lines[i].data(),
                     lines[i].data() + lines[i].size());
}

} // namespace lockstep::demos
