#include "demos/lesson/markdown_view.h"

#include <algorithm>
#include <string_view>

namespace lockstep::demos {

namespace {

ImFont* fontOf(const Ui& ui, const TextBlock& block, const TextSpan& span) {
    if (span.style == TextStyle::code) return ui.fonts.mono;
    return block.kind == BlockKind::heading || span.style == TextStyle::strong ? ui.fonts.strong
                                                                               : ui.fonts.body;
}

ImU32 colourOf(const Ui& ui, const TextBlock& block, const TextSpan& span) {
    if (!span.link.empty() || span.style == TextStyle::emphasis) return ui.theme.accent;
    return block.kind == BlockKind::quote ? ui.theme.muted : ui.theme.text;
}

/// Lays out words of several fonts in lines.
class Flow {
  public:
    Flow(Ui& ui, float indent)
        : ui_(ui), start_(ImGui::GetCursorScreenPos()), left_(start_.x + indent),
          right_(start_.x + ImGui::GetContentRegionAvail().x), at_{left_, start_.y},
          height_(ImGui::GetTextLineHeight()) {}

    void text(std::string_view text, ImFont* font, ImU32 colour) {
        ImGui::PushFont(font);
        while (!text.empty()) {
            if (text.front() == '\n') newLine();
            const bool blank = text.front() == ' ' || text.front() == '\n';
            const std::size_t end = std::min(blank ? std::size_t{1} : text.find_first_of(" \n"), text.size());
            if (blank)
                blankWanted_ = at_.x > left_;
            else
                word(text.substr(0, end), colour);
            text.remove_prefix(end);
        }
        ImGui::PopFont();
    }
    void end() { ImGui::Dummy({right_ - start_.x, at_.y + height_ - start_.y}); }

  private:
    // A word goes on where the last one ended if no blank is between them: "**so**,".
    void word(std::string_view word, ImU32 colour) {
        const float blank = blankWanted_ ? ImGui::CalcTextSize(" ").x : 0;
        if (blankWanted_ && at_.x + blank + textWidth(word) > right_)
            newLine();
        else
            at_.x += blank;
        if (blankWanted_ || at_.x == left_) ++ui_.prose;
        blankWanted_ = false;
        // A word that is wider than a line is cut.
        while (!word.empty()) {
            std::size_t fits = word.size();
            if (at_.x == left_) {
                const char* rest = nullptr;
                ImGui::GetFont()->CalcTextSizeA(ImGui::GetFontSize(), right_ - left_, 0, word.data(),
                                                word.data() + word.size(), &rest);
                fits = std::max<std::size_t>(static_cast<std::size_t>(rest - word.data()), 1);
            }
            ImGui::GetWindowDrawList()->AddText(at_, colour, word.data(), word.data() + fits);
            at_.x += textWidth(word.substr(0, fits));
            word.remove_prefix(fits);
            if (!word.empty()) newLine();
        }
    }
    void newLine() {
        at_ = {left_, at_.y + height_ + ui_.px(2)};
        blankWanted_ = false;
    }

    Ui& ui_;
    ImVec2 start_;
    float left_;
    float right_;
    ImVec2 at_;
    float height_;
    bool blankWanted_ = false;
};

void drawCode(Ui& ui, const TextBlock& block) {
    const std::string text = plainText(block);
    ImGui::PushFont(ui.fonts.mono);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const float edge = ui.px(6);
    const ImVec2 size{width, ImGui::CalcTextSize(text.c_str()).y + 2 * edge};
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImVec2 end{start.x + size.x, start.y + size.y};
    draw.AddRectFilled(start, end, ui.theme.background, ui.px(4));
    draw.PushClipRect(start, end, true);
    draw.AddText({start.x + edge, start.y + edge}, ui.theme.text, text.c_str());
    draw.PopClipRect();
    ImGui::Dummy(size);
    ImGui::PopFont();
}

} // namespace

void drawBlocks(Ui& ui, std::span<const TextBlock> blocks) {
    for (const TextBlock& block : blocks) {
        if (block.kind == BlockKind::code) {
            drawCode(ui, block);
            continue;
        }
        const bool item = block.kind == BlockKind::item;
        const float outer = ui.px(14) * static_cast<float>(block.depth);
        const float inner = item                             ? outer + textWidth(block.bullet) + ui.px(6)
                            : block.kind == BlockKind::quote ? ui.px(12)
                                                             : 0;
        const ImVec2 start = ImGui::GetCursorScreenPos();
        if (item)
            ImGui::GetWindowDrawList()->AddText({start.x + outer, start.y}, ui.theme.muted,
                                                block.bullet.c_str());
        Flow flow(ui, inner);
        for (const TextSpan& span : block.spans)
            flow.text(span.text, fontOf(ui, block, span), colourOf(ui, block, span));
        flow.end();
        if (block.kind == BlockKind::quote) {
            const float bottom = ImGui::GetItemRectMax().y;
            ImGui::GetWindowDrawList()->AddLine(start, {start.x, bottom}, ui.theme.border, ui.line(2));
        }
    }
}

} // namespace lockstep::demos
