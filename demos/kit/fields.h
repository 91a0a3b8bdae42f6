// Fields to set something with: how they stand side by side, and what more than one exhibit puts into them.
#pragma once

#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "demos/draw/ui.h"
#include "engine/net/net_shape.h"
#include "engine/net/settings.h"

namespace lockstep::demos {

/// Fields side by side, each with its name above it; what does not fit goes to the next row. Placed by hand,
/// because ImGui lines up neighbours by their first line of text.
class FieldFlow {
  public:
    /// `inset` pixels on the right are left free.
    explicit FieldFlow(Ui& ui, float inset = 0)
        : ui_(ui), start_(ImGui::GetCursorScreenPos()), at_(start_),
          right_(start_.x + ImGui::GetContentRegionAvail().x - inset),
          row_(ImGui::GetTextLineHeight() + ui.px(3) + ImGui::GetFrameHeight()) {}

    /// `draw(control)` draws the widget. A control that is hidden has no name either.
    template <class Draw> void field(const char* control, const char* name, float units, Draw draw) {
        if (ui_.hidden(control)) return;
        const float width = std::max(ui_.px(units), ImGui::CalcTextSize(name).x);
        if (at_.x + width > right_) newRow();
        ImGui::SetCursorScreenPos(at_);
        ImGui::BeginGroup();
        ui_.muted(name);
        ImGui::SetCursorScreenPos({at_.x, at_.y + row_ - ImGui::GetFrameHeight()});
        ImGui::SetNextItemWidth(std::min(width, right_ - at_.x));
        draw(control);
        ImGui::EndGroup();
        at_.x = std::max(at_.x + width, ImGui::GetItemRectMax().x) + ui_.px(10);
    }

    void newRow() {
        if (at_.x > start_.x) at_ = {start_.x, at_.y + row_ + ui_.px(8)};
    }
    /// The next fields, `units` wide in all, stand in one row.
    void keepTogether(float units) {
        if (at_.x + ui_.px(units) > right_) newRow();
    }
    /// What follows comes below.
    void end() {
        ImGui::SetCursorScreenPos({start_.x, at_.y});
        ImGui::Dummy({right_ - start_.x, at_.x > start_.x ? row_ : 0});
    }

  private:
    Ui& ui_;
    ImVec2 start_;
    ImVec2 at_; // of the next field
    float right_;
    float row_;
};

/// One of the names, or what `value` is already. True when it changed.
inline bool chooseText(Ui& ui, const char* control, std::string& value, std::vector<std::string> names) {
    auto found = std::ranges::find(names, value);
    if (found == names.end()) found = names.insert(found, value);
    auto chosen = static_cast<std::size_t>(found - names.begin());
    if (!ui.combo(control, chosen, names)) return false;
    value = names[chosen];
    return true;
}

/// Three digits are what a slider can tell.
inline double rounded(float value) { return std::stod(fmt::format("{:.3g}", static_cast<double>(value))); }

/// One of the values, by its name. True when it changed.
template <class Enum, std::size_t N>
bool chooseName(Ui& ui, const char* control, Enum& value, const Enum (&all)[N]) {
    std::vector<std::string> names;
    for (const Enum each : all) names.emplace_back(name(each));
    auto chosen = static_cast<std::size_t>(std::ranges::find(all, value) - std::begin(all));
    if (!ui.combo(control, chosen, names)) return false;
    value = all[chosen];
    return true;
}

/// Takes what was typed, by Enter or by leaving the field: `read` is given it, and what that throws becomes a
/// message. True when there was something to take, right or wrong.
template <class Read> bool textEntered(Ui& ui, const char* control, std::string& text, Read read) {
    const bool entered = ui.textField(control, text);
    if (!entered && !ImGui::IsItemDeactivatedAfterEdit()) return false;
    try {
        read(text);
    } catch (const std::exception& error) {
        ui.say(Severity::error, error.what());
    }
    return true;
}

} // namespace lockstep::demos
