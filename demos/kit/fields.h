// Fields to set something with: how they stand side by side, and the kinds of fields there are.
#pragma once

#include <algorithm>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "demos/draw/ui.h"
#include "engine/net/net_shape.h"
#include "engine/net/settings.h"

namespace lockstep::demos {

/// Fields side by side, each with its name above it; a field that does not fit starts the next row. Placed by
/// hand, because ImGui aligns neighbours by their first line of text.
class FieldFlow {
  public:
    /// `inset` pixels on the right stay free.
    explicit FieldFlow(Ui& ui, float inset = 0)
        : ui_(ui), start_(ImGui::GetCursorScreenPos()), at_(start_),
          right_(start_.x + ImGui::GetContentRegionAvail().x - inset),
          row_(ImGui::GetTextLineHeight() + ui.px(3) + ImGui::GetFrameHeight()) {}

    /// `draw(control)` draws the widget. A hidden control has no name above it either.
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
    /// The next fields, `units` wide in total, share a row.
    void keepTogether(float units) {
        if (at_.x + ui_.px(units) > right_) newRow();
    }
    /// A button that opens a popup in which `draw()` draws further fields, with a form of its own.
    template <class Draw> void popup(const char* control, Draw draw) {
        ImVec2 below;
        field(control, "", 60, [&](const char* label) {
            if (ui_.button(label)) ImGui::OpenPopup("settings");
            below = {ImGui::GetItemRectMax().x, ImGui::GetItemRectMax().y + ui_.px(4)};
        });
        ImGui::SetNextWindowPos(below, ImGuiCond_Always, {1, 0});
        ImGui::SetNextWindowSize({std::min(ui_.px(440), ImGui::GetIO().DisplaySize.x), 0});
        if (!ImGui::BeginPopup("settings")) return;
        ui_.heading("Settings");
        draw();
        ImGui::EndPopup();
    }
    /// What follows comes below.
    void end() {
        ImGui::SetCursorScreenPos({start_.x, at_.y});
        ImGui::Dummy({right_ - start_.x, at_.x > start_.x ? row_ : 0});
    }

  protected:
    Ui& ui() const { return ui_; }

  private:
    Ui& ui_;
    ImVec2 start_;
    ImVec2 at_; // of the next field
    float right_;
    float row_;
};

/// A choice among `names`, and the present value if it is not among them. True when it changed.
inline bool chooseText(Ui& ui, const char* control, std::string& value, std::vector<std::string> names) {
    auto found = std::ranges::find(names, value);
    if (found == names.end()) found = names.insert(found, value);
    auto chosen = static_cast<std::size_t>(found - names.begin());
    if (!ui.combo(control, chosen, names)) return false;
    value = names[chosen];
    return true;
}

/// What a slider shows, without the noise of a float's last digits: 0.03f as 0.03.
inline double rounded(float value) { return std::stod(fmt::format("{}", value)); }

/// One of the values, by its name. True when it changed.
template <class Enum>
bool chooseName(Ui& ui, const char* control, Enum& value, std::span<const std::type_identity_t<Enum>> all) {
    std::vector<std::string> names;
    for (const Enum each : all) names.emplace_back(name(each));
    auto chosen = static_cast<std::size_t>(std::ranges::find(all, value) - all.begin());
    if (!ui.combo(control, chosen, names)) return false;
    value = all[chosen];
    return true;
}

/// A line that shows `text`: `read` is given what was typed, and what it throws becomes a message. True when
/// something was typed and taken.
template <class Read> bool textEntered(Ui& ui, const char* control, const std::string& text, Read read) {
    const std::optional<std::string> typed = ui.typedText(control, text);
    if (!typed) return false;
    try {
        read(*typed);
    } catch (const std::exception& error) {
        ui.say(Severity::error, error.what());
        return false;
    }
    return true;
}

} // namespace lockstep::demos
