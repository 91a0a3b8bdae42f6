#include "demos/draw/ui.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdlib>

#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include "demos/draw/icons.h"
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

// ImGui drops a comma that is typed into a slider: "0,5" would be 5. In the one number of a slider that shows
// decimals, it is the decimal sign.
void readDecimalCommas(const std::string& shown, std::string_view format) {
    if (format.find(".0f") != std::string_view::npos) return;
    const ImGuiContext& context = *ImGui::GetCurrentContext();
    if (context.TempInputId != ImGui::GetID(shown.c_str())) return;
    for (ImWchar& letter : ImGui::GetIO().InputQueueCharacters)
        if (letter == ',') letter = '.';
}

// A slider's format in the language spoken now. ImGui writes numbers with a point, so the number is written
// here where the language has a comma, except while it is typed: ImGui reads it back then.
std::string sliderFormat(const std::string& shown, const char* format, float value) {
    const std::string words(translated(format));
    if (decimalSign() == '.' || ImGui::GetCurrentContext()->TempInputId == ImGui::GetID(shown.c_str()))
        return words;
    std::array<char, 64> text{};
    ImFormatString(text.data(), text.size(), words.c_str(), static_cast<double>(value));
    std::string written;
    for (const char letter : withDecimalSign(text.data())) written.append(letter == '%' ? 2 : 1, letter);
    return written;
}

// What ImGui does to the value of a slider that shows it: it keeps the digits shown.
void roundAs(const char* format, float& value) {
    if (std::string_view(format).find("%.") == std::string_view::npos) return; // it shows something else
    std::array<char, 64> text{};
    ImFormatString(text.data(), text.size(), format, static_cast<double>(value));
    const char* number = std::ranges::find_if(
        text, [](char letter) { return letter == '-' || (letter >= '0' && letter <= '9'); });
    value = std::strtof(number, nullptr);
}

bool slideFloat(const std::string& shown, float& value, float from, float to, const char* format,
                ImGuiSliderFlags flags) {
    const std::string written = sliderFormat(shown, format, value);
    const bool changed = ImGui::SliderFloat(shown.c_str(), &value, from, to, written.c_str(), flags);
    if (changed && decimalSign() != '.') roundAs(format, value);
    return changed;
}

} // namespace

void drawText(ImDrawList& draw, ImVec2 at, ImU32 colour, std::string_view text) {
    const std::string_view words = translated(text);
    draw.AddText(at, colour, words.data(), words.data() + words.size());
}

std::string fittedText(std::string_view text, float width) {
    text = translated(text);
    if (lettersWidth(text) <= width) return std::string(text);
    const float dots = lettersWidth("…");
    while (!text.empty() && lettersWidth(text) + dots > width) {
        // Letters of several bytes go as a whole.
        std::size_t end = text.size() - 1;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
        text = text.substr(0, end);
    }
    return std::string(text) + "…";
}

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

namespace {

bool covers(const Place& box, const Place& place) {
    return box.min.x < place.max.x && box.max.x > place.min.x && box.min.y < place.max.y &&
           box.max.y > place.min.y;
}

/// What of a control must stay in sight: all of it, or where a large one has its title.
Place kept(const Place& control, ImVec2 size) {
    constexpr float titles = 0.35f; // of the width
    const ImVec2 extent{control.max.x - control.min.x, control.max.y - control.min.y};
    const bool large = extent.x > 2 * size.x && extent.y > size.y;
    if (!large) return control;
    return {control.min, {control.min.x + titles * extent.x, control.min.y + size.y}};
}

} // namespace

ImVec2 explanationPlace(const Place& item, ImVec2 size, ImVec2 window, float edge, ImVec2 pointer,
                        std::span<const Place> others) {
    const auto inside = [&](float x, float y) {
        return ImVec2{std::clamp(x, edge, std::max(edge, window.x - size.x - edge)),
                      std::clamp(y, edge, std::max(edge, window.y - size.y - edge))};
    };
    const auto boxAt = [&](ImVec2 at) { return Place{at, {at.x + size.x, at.y + size.y}}; };
    const auto covered = [&](ImVec2 at) {
        return std::ranges::count_if(
            others, [&](const Place& other) { return covers(boxAt(at), kept(other, size)); });
    };
    const bool wide = item.max.x - item.min.x > size.x;
    const float near = std::max(item.min.x, std::min(pointer.x - 2 * edge, item.max.x - size.x));
    // Near the pointer or, where that covers something, as little farther to the right as frees it.
    const auto free = [&](float y) {
        const ImVec2 first = inside(near, y);
        if (covered(first) == 0) return first;
        std::optional<ImVec2> best;
        for (const Place& other : others) {
            const ImVec2 at = inside(kept(other, size).max.x + edge, y);
            const float way = at.x - first.x;
            if (way <= 0 || way > 1.4f * size.x || at.x + size.x > item.max.x || covered(at) > 0) continue;
            if (!best || at.x < best->x) best = at;
        }
        return best.value_or(first);
    };
    std::optional<ImVec2> best;
    std::ptrdiff_t fewest = 0;
    // A narrow control's box begins or ends where the control does.
    const float ends = wide ? near : item.max.x - size.x;
    for (const ImVec2 at :
         {free(item.max.y + edge), free(item.min.y - edge - size.y), inside(ends, item.max.y + edge),
          inside(ends, item.min.y - edge - size.y), inside(item.max.x + edge, item.min.y),
          inside(item.min.x - edge - size.x, item.min.y)}) {
        if (covers(boxAt(at), item)) continue;
        const std::ptrdiff_t count = covered(at);
        if (best && count >= fewest) continue;
        best = at;
        fewest = count;
    }
    // Rather the end of a high item than a control beside it.
    const bool high = item.max.y - item.min.y > 3 * size.y;
    const bool pointsLow = pointer.y > (item.min.y + item.max.y) / 2;
    if (!best || (wide && high && fewest > 0))
        return pointsLow ? inside(near, item.min.y + edge) : inside(near, window.y);
    return *best;
}

std::string_view shownLabel(std::string_view label) { return label.substr(0, label.find("##")); }

float Ui::line(float units) const {
    return std::max(1.0f, std::round(px(units) * (presenter ? 1.6f : 1.0f)));
}

void Ui::offer(const char* name) {
    const bool gone = hidden(name);
    if (!gone && !hidingControls) return;
    // Widgets drawn from here to done() are laid out but disabled, and clipped where they are hidden.
    const ImVec2 nowhere{-1e6f, -1e6f};
    if (gone) ImGui::PushClipRect(nowhere, nowhere, false);
    ImGui::PushStyleVar(ImGuiStyleVar_DisabledAlpha, 1);
    ImGui::BeginDisabled();
}

bool Ui::done(const char* name, std::string_view words, bool used) {
    const bool gone = hidden(name);
    if (gone) ImGui::PopClipRect();
    if (!gone || hidingControls) noteControl(name, words);
    if (!gone && !hidingControls) return used;
    ImGui::EndDisabled();
    ImGui::PopStyleVar();
    if (!hidingControls || !hidingClick(name, words, gone)) return false;
    if (gone)
        hiddenControls.erase(hiddenControls.find(name));
    else
        hiddenControls.insert(name);
    return false;
}

bool Ui::hidingClick(const char* name, std::string_view words, bool gone) {
    const Place place{ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
    // ImGui does not look for the mouse in what was clipped.
    const bool under = gone ? ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem) &&
                                  ImGui::IsMouseHoveringRect(place.min, place.max)
                            : ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled);
    if (gone && under) pointed_ = Pointed{name, std::string(words), place, false};
    const ImU32 wouldBe = gone ? theme.good : theme.bad;
    const ImU32 colour = under ? wouldBe : faded(theme.muted, gone ? 0.25f : 0.8f);
    // Above everything, but no farther than the pane that it scrolls in.
    const ImDrawList& pane = *ImGui::GetWindowDrawList();
    ImDrawList& draw = *ImGui::GetForegroundDrawList();
    draw.PushClipRect(pane.GetClipRectMin(), pane.GetClipRectMax());
    draw.AddRect(place.min, place.max, colour, px(6), 0, line(under ? 2.0f : 1.0f));
    draw.PopClipRect();
    return under && ImGui::IsMouseReleased(0);
}

void Ui::noteControl(const char* name, std::string_view words) {
    noteStop(name);
    if (!ImGui::IsItemVisible()) return;
    const Place place{ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
    controls[name] = place;
    const bool byKeyboard = ImGui::IsItemFocused() && ImGui::GetIO().NavVisible;
    if (byKeyboard || ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled))
        pointed_ = Pointed{name, std::string(words), place, byKeyboard};
}

bool Ui::namedButton(const char* shown, const char* name, std::string_view words, bool enabled) {
    offer(name);
    ImGui::BeginDisabled(!enabled);
    const bool pressed = ImGui::Button(translatedLabel(shown).c_str());
    ImGui::EndDisabled();
    return done(name, words, pressed);
}

bool Ui::menuItem(const char* label, std::string_view words, const char* key, bool on, bool enabled) {
    const std::string pressed(key == nullptr ? "" : translated(key));
    return noteMenu(label, words,
                    ImGui::MenuItem(translatedLabel(label).c_str(),
                                    key == nullptr ? nullptr : pressed.c_str(), on, enabled));
}

bool Ui::menu(const char* label, std::string_view words, bool enabled) {
    return noteMenu(label, words, ImGui::BeginMenu(translatedLabel(label).c_str(), enabled));
}

bool Ui::noteMenu(const std::string& name, std::string_view words, bool used) {
    noteControl(("menu/" + name).c_str(), words);
    return used;
}

bool Ui::primaryButton(const char* label, std::string_view words, bool enabled, const char* name) {
    ImGui::PushStyleColor(ImGuiCol_Button, theme.accent);
    ImGui::PushStyleColor(ImGuiCol_ButtonHovered, mixed(theme.accent, theme.panel, 0.15f));
    ImGui::PushStyleColor(ImGuiCol_ButtonActive, mixed(theme.accent, theme.panel, 0.3f));
    ImGui::PushStyleColor(ImGuiCol_Text, theme.onAccent);
    const bool pressed = namedButton(label, name == nullptr ? label : name, words, enabled);
    ImGui::PopStyleColor(4);
    return pressed;
}

// The frame of the widget about to be drawn, without the label beside it.
Place Ui::nextFrame() const {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    return {low, {low.x + ImGui::CalcItemWidth(), low.y + ImGui::GetFrameHeight()}};
}

// The chosen entry, as much of it as fits, and a chevron.
void Ui::drawComboFrame(ImDrawList& draw, const Place& frame, std::string_view chosen) const {
    const float padding = ImGui::GetStyle().FramePadding.x;
    const float middle = (frame.min.y + frame.max.y) / 2;
    const float arrow = px(4);
    const float right = frame.max.x - padding - arrow;
    drawChevron(*this, draw, {right, middle}, ImGui::GetColorU32(theme.muted));
    const std::string shown = fittedText(chosen, right - 2 * arrow - frame.min.x - padding);
    draw.AddText({frame.min.x + padding, middle - ImGui::GetFontSize() / 2}, ImGui::GetColorU32(theme.text),
                 shown.c_str());
}

bool Ui::combo(const char* label, std::string_view words, std::size_t& chosen,
               std::span<const std::string> names) {
    offer(label);
    bool changed = false;
    const Place frame = nextFrame();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const bool visible = ImGui::IsRectVisible(frame.min, frame.max);
    // No longer than the room below or above, where ImGui opens it: it would cover the frame elsewhere.
    const float room = std::max(frame.min.y, ImGui::GetIO().DisplaySize.y - frame.max.y) - px(8);
    constexpr float mostRows = 20;
    ImGui::SetNextWindowSizeConstraints(
        {0, 0}, {FLT_MAX, std::min(room, mostRows * ImGui::GetTextLineHeightWithSpacing())});
    const bool open = ImGui::BeginCombo(translatedLabel(label).c_str(), "", ImGuiComboFlags_NoArrowButton);
    drawComboFrame(draw, frame, chosen < names.size() ? names[chosen] : "");
    if (!open) done(label, words, false);
    if (open && visible) controls[label] = frame;
    narrowControl(label, frame);
    if (!open) return false;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (ImGui::Selectable(translatedLabel(names[i]).c_str(), i == chosen)) {
            changed = i != chosen;
            chosen = i;
        }
        noteControl((std::string(label) + "/" + names[i]).c_str(), words);
    }
    ImGui::EndCombo();
    return changed;
}

// The value shows as a line below the number, which ImGui's own grab would cover.
template <class Slide, class Share>
bool Ui::drawSlider(const char* label, std::string_view words, Slide slide, Share share) {
    offer(label);
    const Place frame = nextFrame();
    ImGui::PushStyleColor(ImGuiCol_SliderGrab, ImU32{0});
    ImGui::PushStyleColor(ImGuiCol_SliderGrabActive, ImU32{0});
    feedSlider(label);
    const bool changed = slide();
    ImGui::PopStyleColor(2);
    const bool typed = noteSlider(label);
    const bool held = ImGui::IsItemActive() || ImGui::IsItemHovered();
    const float inset = px(8);
    const float y = frame.max.y - px(3);
    const float left = frame.min.x + inset;
    const float right = frame.max.x - inset;
    const float at = left + (right - left) * std::clamp(share(), 0.0f, 1.0f);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImU32 filled = ImGui::GetColorU32(held ? theme.text : theme.muted);
    draw.AddLine({left, y}, {right, y}, ImGui::GetColorU32(theme.border), px(2));
    draw.AddLine({left, y}, {at, y}, filled, px(2));
    draw.AddCircleFilled({at, y}, px(held ? 3.5f : 2.5f), filled);
    const bool result = done(label, words, changed);
    narrowControl(label, frame);
    if (typed && pointed_ && pointed_->name == label) pointed_->typed = true;
    return result;
}

bool Ui::slider(const char* label, std::string_view words, float& value, float from, float to,
                const char* format, bool typed) {
    const ImGuiSliderFlags flags = typed ? ImGuiSliderFlags_None : ImGuiSliderFlags_NoInput;
    const std::string shown = translatedLabel(label);
    return drawSlider(
        label, words,
        [&] {
            readDecimalCommas(shown, format);
            return slideFloat(shown, value, from, to, format, flags);
        },
        [&] { return (value - from) / (to - from); });
}

bool Ui::logSlider(const char* label, std::string_view words, float& value, float from, float to,
                   const char* format) {
    const std::string shown = translatedLabel(label);
    return drawSlider(
        label, words,
        [&] {
            readDecimalCommas(shown, format);
            return slideFloat(shown, value, from, to, format, ImGuiSliderFlags_Logarithmic);
        },
        [&] {
            return from > 0 ? std::log(value / from) / std::log(to / from) : (value - from) / (to - from);
        });
}

bool Ui::intSlider(const char* label, std::string_view words, int& value, int from, int to,
                   const char* format) {
    const std::string shown = translatedLabel(label);
    const std::string written(translated(format));
    return drawSlider(
        label, words, [&] { return ImGui::SliderInt(shown.c_str(), &value, from, to, written.c_str()); },
        [&] { return static_cast<float>(value - from) / static_cast<float>(std::max(to - from, 1)); });
}

bool Ui::stopSlider(const char* label, std::string_view words, std::size_t& stop, std::size_t stops,
                    const std::string& shown) {
    const std::string name = translatedLabel(label);
    const std::string value(translated(shown));
    int at = static_cast<int>(stop);
    const int last = static_cast<int>(stops) - 1;
    const bool changed = drawSlider(
        label, words,
        [&] { return ImGui::SliderInt(name.c_str(), &at, 0, last, value.c_str(), ImGuiSliderFlags_NoInput); },
        [&] { return static_cast<float>(at) / static_cast<float>(std::max(last, 1)); });
    if (changed) stop = static_cast<std::size_t>(at);
    return changed;
}

bool Ui::powerSlider(const char* label, std::string_view words, std::size_t& value, std::size_t from,
                     std::size_t to) {
    const auto exponent = [](std::size_t number) {
        return static_cast<std::size_t>(std::bit_width(number)) - 1;
    };
    const std::size_t first = exponent(from);
    std::size_t stop = exponent(std::clamp(value, from, to)) - first;
    if (!stopSlider(label, words, stop, exponent(to) - first + 1, std::to_string(value))) return false;
    value = std::size_t{1} << (first + stop);
    return true;
}

bool Ui::textField(const char* label, std::string_view words, std::string& text) {
    offer(label);
    // What is there is mostly replaced: typing does so at once.
    constexpr ImGuiInputTextFlags flags =
        ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll;
    return done(label, words, ImGui::InputText(translatedLabel(label).c_str(), &text, flags));
}

std::optional<std::string> Ui::typedText(const char* label, std::string_view words, const std::string& text) {
    const auto typed = typed_.find(label);
    std::string content = typed == typed_.end() ? text : typed->second;
    const bool entered = textField(label, words, content);
    const bool left = ImGui::IsItemDeactivatedAfterEdit();
    if (ImGui::IsItemActive())
        typed_[label] = content;
    else if (typed != typed_.end())
        typed_.erase(typed);
    if (!entered && !left) return std::nullopt;
    return content;
}

bool Ui::segments(const char* label, std::string_view words, std::size_t& chosen,
                  std::span<const std::string> names, std::string_view lastWords) {
    offer(label);
    bool changed = false;
    const bool gone = hidden(label);
    const bool whole = gone || hidingControls; // they go as a whole
    if (whole) ImGui::BeginGroup();
    ImGui::PushID(label);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {px(2), ImGui::GetStyle().ItemSpacing.y});
    const ImVec2 start = ImGui::GetCursorScreenPos();
    std::optional<Place> marked;
    for (std::size_t i = 0; i < names.size(); ++i) {
        // A name that does not fit goes below: it is never cut.
        if (i > 0) ImGui::SameLine();
        const float width = textWidth(names[i]) + 2 * ImGui::GetStyle().FramePadding.x;
        if (i > 0 && width > ImGui::GetContentRegionAvail().x + 1) ImGui::NewLine();
        const bool on = i == chosen;
        ImGui::PushStyleColor(ImGuiCol_Button, on ? theme.hovered : theme.raised);
        ImGui::PushStyleColor(ImGuiCol_Text, on ? theme.text : theme.muted);
        const bool pressed = ImGui::Button(translatedLabel(names[i]).c_str());
        ImGui::PopStyleColor(2);
        if (on) marked = Place{ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
        const bool own = i + 1 == names.size() && !lastWords.empty();
        if (!gone) noteControl((std::string(label) + "/" + names[i]).c_str(), own ? lastWords : words);
        if (pressed && !on) {
            chosen = i;
            changed = true;
        }
    }
    ImGui::PopStyleVar();
    ImGui::PopID();
    if (marked) { // the second cue: a line under the chosen entry
        const std::string id = std::string(label) + "/";
        const float left = start.x + eased(id + "left", marked->min.x - start.x) + px(6);
        const float right = start.x + eased(id + "right", marked->max.x - start.x) - px(6);
        const float y = start.y + eased(id + "below", marked->max.y - start.y) - px(2);
        ImGui::GetWindowDrawList()->AddLine({left, y}, {right, y}, theme.text, line(2));
    }
    if (!whole) return changed;
    ImGui::EndGroup();
    return done(label, words, changed);
}

void Ui::text(std::string_view text, ImU32 colour, ImFont* font) {
    text = translated(text);
    if (font != nullptr) ImGui::PushFont(font);
    if (colour != 0) ImGui::PushStyleColor(ImGuiCol_Text, legible(theme, colour));
    ImGui::TextUnformatted(text.data(), text.data() + text.size());
    if (colour != 0) ImGui::PopStyleColor();
    if (font != nullptr) ImGui::PopFont();
}

void Ui::headline(std::string_view text, float width) {
    if (width <= 0) width = ImGui::GetContentRegionAvail().x;
    ImGui::PushFont(fonts.headline);
    const bool fits = textWidth(text) <= width;
    ImGui::PopFont();
    ImGui::PushFont(fits ? fonts.headline : fonts.title);
    paragraph(text, 0, width);
    ImGui::PopFont();
}

void Ui::paragraph(std::string_view text, ImU32 colour, float width) {
    if (width <= 0) width = ImGui::GetContentRegionAvail().x;
    text = translated(text);
    prose += static_cast<std::size_t>(std::ranges::count(text, ' ')) + 1;
    // By hand, because ImGui also breaks lines within numbers. Widths are rounded up to a pixel.
    std::string lines;
    for (const std::string_view line : linesAtBlanks(text, width + 1, lettersWidth))
        lines.append(lines.empty() ? "" : "\n").append(line);
    this->text(lines, colour);
}

bool Ui::more(const char* name) {
    const bool open = open_.contains(name);
    const std::string shown = std::string(open ? "Less" : "More") + "##" + name;
    ImGui::PushStyleColor(ImGuiCol_Text, theme.muted);
    const bool pressed = namedButton(shown.c_str(), name, "Shows or hides a longer explanation.");
    ImGui::PopStyleColor();
    if (pressed && !open_.erase(name)) open_.insert(name);
    return open;
}

void Ui::row(std::string_view name, std::string_view value) {
    muted(name);
    const float width = textWidth(value);
    const float right = ImGui::GetWindowContentRegionMax().x;
    const float used = ImGui::GetItemRectMax().x - ImGui::GetWindowPos().x + ImGui::GetScrollX();
    if (used + px(10) + width > right) { // below it, in as many lines as it takes
        paragraph(value);
        return;
    }
    ImGui::SameLine(right - width);
    text(value);
}

void Ui::beginCard(const char* id, ImVec2 size, ImU32 ground) {
    ImGui::PushStyleColor(ImGuiCol_ChildBg, ground != 0 ? ground : theme.panel);
    ImGui::BeginChild(id, size, true, ImGuiWindowFlags_AlwaysUseWindowPadding);
}

void Ui::say(Severity severity, const std::string& english, const std::string& englishHint) {
    std::string text = translatedParts(english); // errors are thrown in English
    std::string hint = translatedParts(englishHint);
    if (messages.size() > dismissed && messages.back().text == text) {
        messages.back().time = now;
        return;
    }
    messages.push_back({severity, std::move(text), std::move(hint), now});
    if (messages.size() <= 100) return;
    messages.erase(messages.begin());
    if (dismissed > 0) --dismissed;
}

// Tab leads the keyboard through all controls: ImGui's own visits text fields only, and its focus can be set
// by name through its internal functions alone.
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
    const bool wide = pointed_ && pointed_->place.max.x - pointed_->place.min.x > px(240);
    const bool large = wide && pointed_->place.max.y - pointed_->place.min.y > px(120);
    const bool ofPoint = detailUnshown() && large && !pointed_->byKeyboard;
    const Place place = pointed_ && !ofPoint ? pointed_->place : atMouse;
    const bool listed = open || place.max.x < px(100);
    std::vector<Place> others;
    for (const auto& [control, at] : controls)
        if (!pointed_ || control != pointed_->name) others.push_back(at);
    const ImVec2 low = listed || !pointed_ || ofPoint
                           ? beside(place, size, display, edge, listed, mouse)
                           : explanationPlace(place, size, display, edge, mouse, others);

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
