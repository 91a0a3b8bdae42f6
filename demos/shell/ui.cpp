#include "demos/shell/ui.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace lockstep::demos {

namespace {

int growWithText(ImGuiInputTextCallbackData* data) {
    if (data->EventFlag != ImGuiInputTextFlags_CallbackResize) return 0;
    auto& text = *static_cast<std::string*>(data->UserData);
    text.resize(static_cast<std::size_t>(data->BufTextLen));
    data->Buf = text.data();
    return 0;
}

} // namespace

std::string fittedText(std::string_view text, float width) {
    const auto widthOf = [](std::string_view part) {
        return ImGui::CalcTextSize(part.data(), part.data() + part.size()).x;
    };
    if (widthOf(text) <= width) return std::string(text);
    const float dots = widthOf("…");
    while (!text.empty() && widthOf(text) + dots > width) {
        // Letters of several bytes go as a whole.
        do text.remove_suffix(1);
        while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80) != 0 &&
               (static_cast<unsigned char>(text.back()) & 0x40) == 0);
        if (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0xC0) text.remove_suffix(1);
    }
    return std::string(text) + "…";
}

std::string_view shownLabel(std::string_view label) { return label.substr(0, label.find("##")); }

float Ui::line(float units) const {
    return std::max(1.0f, std::round(px(units) * (presenter ? 1.6f : 1.0f)));
}

void Ui::beginFrame() {
    controls.clear();
    hovered.reset();
}

// Says whether the widget is to be drawn at all.
bool Ui::offered(const char* label) { return !hiddenControls.contains(label); }

bool Ui::done(const char* label, bool changed) {
    noteControl(label);
    if (!hidingControls) return changed;
    // A teacher chooses what to hide: a frame around what can be, and a click hides.
    ImDrawList* draw = ImGui::GetForegroundDrawList();
    const bool under = ImGui::IsItemHovered();
    draw->AddRect(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), under ? theme.bad : theme.border, px(6),
                  0, line(under ? 2.0f : 1.0f));
    if (under && ImGui::IsMouseReleased(0)) hiddenControls.insert(label);
    return false;
}

void Ui::noteControl(const char* name) {
    if (!ImGui::IsItemVisible()) return;
    controls[name] = {ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
}

bool Ui::namedButton(const char* shown, const char* name, bool enabled) {
    if (!offered(name)) return false;
    ImGui::BeginDisabled(!enabled);
    const bool pressed = ImGui::Button(shown);
    ImGui::EndDisabled();
    return done(name, pressed);
}

bool Ui::primaryButton(const char* shown, const char* name, bool enabled) {
    if (!offered(name)) return false;
    ImGui::PushStyleColor(ImGuiCol_Button, theme.accent);
    ImGui::PushStyleColor(ImGuiCol_ButtonHovered, mixed(theme.accent, theme.panel, 0.15f));
    ImGui::PushStyleColor(ImGuiCol_ButtonActive, mixed(theme.accent, theme.panel, 0.3f));
    ImGui::PushStyleColor(ImGuiCol_Text, theme.onAccent);
    const bool pressed = namedButton(shown, name, enabled);
    ImGui::PopStyleColor(4);
    return pressed;
}

bool Ui::toggle(const char* label, bool on, bool enabled) {
    return on ? primaryButton(label, enabled) : button(label, enabled);
}

bool Ui::checkbox(const char* label, bool& value) {
    return offered(label) && done(label, ImGui::Checkbox(label, &value));
}

bool Ui::combo(const char* label, std::size_t& chosen, std::span<const std::string> names) {
    if (!offered(label)) return false;
    const char* shown = chosen < names.size() ? names[chosen].c_str() : "";
    bool changed = false;
    const bool open = ImGui::BeginCombo(label, shown, ImGuiComboFlags_HeightLarge);
    noteControl(label);
    if (open) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (ImGui::Selectable(names[i].c_str(), i == chosen)) {
                changed = i != chosen;
                chosen = i;
            }
            noteControl((std::string(label) + "/" + names[i]).c_str());
        }
        ImGui::EndCombo();
    }
    if (!open) return done(label, changed);
    return changed;
}

bool Ui::slider(const char* label, float& value, float from, float to, const char* format) {
    return offered(label) && done(label, ImGui::SliderFloat(label, &value, from, to, format));
}

bool Ui::logSlider(const char* label, float& value, float from, float to, const char* format) {
    return offered(label) &&
           done(label, ImGui::SliderFloat(label, &value, from, to, format, ImGuiSliderFlags_Logarithmic));
}

bool Ui::intSlider(const char* label, int& value, int from, int to) {
    return offered(label) && done(label, ImGui::SliderInt(label, &value, from, to));
}

bool Ui::powerSlider(const char* label, std::size_t& value, std::size_t from, std::size_t to) {
    if (!offered(label)) return false;
    const auto exponent = [](std::size_t number) { return static_cast<int>(std::bit_width(number)) - 1; };
    int at = exponent(std::clamp(value, from, to));
    const bool changed = ImGui::SliderInt(label, &at, exponent(from), exponent(to),
                                          std::to_string(value).c_str(), ImGuiSliderFlags_NoInput);
    if (changed) value = std::size_t{1} << at;
    return done(label, changed);
}

bool Ui::textField(const char* label, std::string& text) {
    constexpr ImGuiInputTextFlags flags =
        ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CallbackResize;
    return offered(label) &&
           done(label, ImGui::InputText(label, text.data(), text.capacity() + 1, flags, growWithText, &text));
}

bool Ui::segments(const char* label, std::size_t& chosen, std::span<const std::string> names) {
    if (!offered(label)) return false;
    bool changed = false;
    ImGui::PushID(label);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {px(2), ImGui::GetStyle().ItemSpacing.y});
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) ImGui::SameLine();
        const bool on = i == chosen;
        ImGui::PushStyleColor(ImGuiCol_Button, on ? theme.hovered : theme.raised);
        ImGui::PushStyleColor(ImGuiCol_Text, on ? theme.text : theme.muted);
        const bool pressed = ImGui::Button(names[i].c_str());
        ImGui::PopStyleColor(2);
        if (on) {
            // The second cue: a line under what is chosen.
            const ImVec2 low = ImGui::GetItemRectMax();
            const float left = ImGui::GetItemRectMin().x;
            ImGui::GetWindowDrawList()->AddLine({left + px(6), low.y - px(2)}, {low.x - px(6), low.y - px(2)},
                                                theme.text, line(2));
        }
        if (done((std::string(label) + "/" + names[i]).c_str(), pressed && !on)) {
            chosen = i;
            changed = true;
        }
    }
    ImGui::PopStyleVar();
    ImGui::PopID();
    return changed;
}

void Ui::text(std::string_view text, ImU32 colour, ImFont* font) {
    if (font != nullptr) ImGui::PushFont(font);
    if (colour != 0) ImGui::PushStyleColor(ImGuiCol_Text, colour);
    ImGui::TextUnformatted(text.data(), text.data() + text.size());
    if (colour != 0) ImGui::PopStyleColor();
    if (font != nullptr) ImGui::PopFont();
}

void Ui::heading(std::string_view text) { this->text(text, 0, fonts.strong); }

void Ui::paragraph(std::string_view text, ImU32 colour) {
    ImGui::PushTextWrapPos(0);
    this->text(text, colour);
    ImGui::PopTextWrapPos();
}

void Ui::row(std::string_view name, std::string_view value) {
    muted(name);
    const std::string shown(value);
    const float width = ImGui::CalcTextSize(shown.c_str()).x;
    const float right = ImGui::GetWindowContentRegionMax().x;
    ImGui::SameLine(std::max(right - width, ImGui::CalcTextSize(std::string(name).c_str()).x + px(8)));
    text(shown);
}

void Ui::beginCard(const char* id, ImVec2 size) {
    ImGui::PushStyleColor(ImGuiCol_ChildBg, theme.panel);
    ImGui::BeginChild(id, size, true, ImGuiWindowFlags_AlwaysUseWindowPadding);
}

void Ui::endCard() {
    ImGui::EndChild();
    ImGui::PopStyleColor();
}

void Ui::explainItem(const Detail& explained) {
    if (!ImGui::IsItemHovered()) return;
    detail(explained);
}

void Ui::say(Severity severity, std::string text, std::string hint) {
    if (!messages.empty() && messages.back().text == text) {
        messages.back().time = now;
        return;
    }
    messages.push_back({severity, std::move(text), std::move(hint), now});
    if (messages.size() > 100) messages.erase(messages.begin());
}

} // namespace lockstep::demos
