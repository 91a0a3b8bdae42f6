// How the controls of a race stand side by side.
#pragma once

#include "demos/shell/ui.h"

namespace lockstep::demos {

/// Fields side by side, each with its name above it; what does not fit goes to the next row. Placed by hand,
/// because ImGui lines up neighbours by their first line of text.
class SetupFlow {
  public:
    explicit SetupFlow(Ui& ui) : ui_(ui), start_(ImGui::GetCursorScreenPos()), next_(start_) {
        right_ = start_.x + ImGui::GetContentRegionAvail().x - ImGui::GetStyle().WindowPadding.x;
        rowHeight_ = ImGui::GetTextLineHeight() + ui.px(4) + ImGui::GetFrameHeight();
    }

    /// False when the control is hidden: then it has no name either.
    bool begin(const char* control, const char* label, float units) {
        if (ui_.hidden(control)) return false;
        const float width = ui_.px(units);
        if (next_.x > start_.x && next_.x + width > right_) newRow();
        ImGui::SetCursorScreenPos(next_);
        ImGui::BeginGroup();
        ui_.muted(label);
        ImGui::SetCursorScreenPos({next_.x, next_.y + ImGui::GetTextLineHeight() + ui_.px(4)});
        ImGui::SetNextItemWidth(width);
        return true;
    }
    void end() {
        ImGui::EndGroup();
        next_.x = ImGui::GetItemRectMax().x + ui_.px(12);
    }
    void newRow() {
        if (next_.x > start_.x) next_ = {start_.x, next_.y + rowHeight_ + ui_.px(10)};
    }

  private:
    Ui& ui_;
    ImVec2 start_;
    ImVec2 next_; // of the next field
    float right_ = 0;
    float rowHeight_ = 0;
};

} // namespace lockstep::demos
