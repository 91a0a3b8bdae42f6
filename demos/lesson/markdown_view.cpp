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
    /// As a control, in one piece where it fits on a line.
    void link(const std::string& text, const std::string& target) {
        const float blank = blankWanted_ ? lettersWidth(" ") : 0;
        if (at_.x > left_ && at_.x + blank + lettersWidth(text) > right_)
            newLine();
        else
            at_.x += blank;
        const ImVec2 start = at_;
        const ImVec2 size{std::min(lettersWidth(text), right_ - start.x), height_};
        blankWanted_ = false;
        word(text, ui_.theme.accent);
        const ImVec2 after = ImGui::GetCursorScreenPos();
        ImGui::SetCursorScreenPos(start);
        if (ui_.tile(("link/" + target).c_str(),
                     "Opens a lesson. Of a page on the Internet, it copies the address.", size))
            ui_.linkWish = target;
        if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
        ImGui::SetCursorScreenPos(after);
        const float line = start.y + height_;
        ImGui::GetWindowDrawList()->AddLine({start.x, line}, {start.x + size.x, line}, ui_.theme.accent,
                                            ui_.line());
    }
    void end() { ImGui::Dummy({right_ - start_.x, at_.y + height_ - start_.y}); }

  private:
    // A word goes on where the last one ended if no blank is between them: "**so**,".
    void word(std::string_view word, ImU32 colour) {
        const float blank = blankWanted_ ? ImGui::CalcTextSize(" ").x : 0;
        if (blankWanted_ && at_.x + blank + lettersWidth(word) > right_)
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
            at_.x += lettersWidth(word.substr(0, fits));
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

namespace {

void drawSpans(Ui& ui, const TextBlock& block, float indent) {
    Flow flow(ui, indent);
    for (const TextSpan& span : block.spans)
        if (span.link.empty())
            flow.text(span.text, fontOf(ui, block, span), colourOf(ui, block, span));
        else
            flow.link(span.text, span.link);
    flow.end();
}

void drawTable(Ui& ui, const TextBlock& block) {
    if (block.rows.empty()) return;
    ImGui::PushID(&block.rows.front());
    constexpr ImGuiTableFlags flags =
        ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_NoSavedSettings;
    const std::size_t columns = block.rows.front().size();
    if (ImGui::BeginTable("table", static_cast<int>(columns), flags)) {
        for (std::size_t i = 0; i < columns; ++i) {
            float widest = 1;
            for (const std::vector<TextBlock>& row : block.rows)
                if (i < row.size()) widest = std::max(widest, lettersWidth(plainText(row[i])));
            widest = std::min(widest, ImGui::GetContentRegionAvail().x / 2); // it wraps, the others need not
            ImGui::TableSetupColumn(nullptr, ImGuiTableColumnFlags_WidthStretch, widest);
        }
        for (const std::vector<TextBlock>& row : block.rows) {
            ImGui::TableNextRow();
            for (const TextBlock& cell : row) {
                ImGui::TableNextColumn();
                TextBlock shown = cell;
                if (&row == &block.rows.front()) shown.kind = BlockKind::heading;
                drawSpans(ui, shown, 0);
            }
        }
        ImGui::EndTable();
    }
    ImGui::PopID();
}

void drawPicture(Ui& ui, const TextBlock& block, const Picture* picture) {
    if (picture == nullptr) return drawSpans(ui, block, 0);
    const float room = ImGui::GetContentRegionAvail().x;
    const auto size = ImVec2(static_cast<float>(picture->width()), static_cast<float>(picture->height()));
    // Question and answer should stay in view.
    const float scale = std::min({room / size.x, ui.px(200) / size.y, ui.px(1)});
    ImGui::Image(picture->id(), {size.x * scale, size.y * scale});
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", plainText(block).c_str());
}

} // namespace

void drawBlocks(Ui& ui, std::span<const TextBlock> blocks, LessonPictures& pictures,
                const std::filesystem::path& folder) {
    for (const TextBlock& block : blocks) {
        const ImVec2 start = ImGui::GetCursorScreenPos();
        switch (block.kind) {
        case BlockKind::code: drawCode(ui, block); break;
        case BlockKind::table: drawTable(ui, block); break;
        case BlockKind::picture:
            drawPicture(ui, block, pictures.find(ui.graphics, folder, block.file));
            break;
        case BlockKind::item: {
            const float outer = ui.px(14) * static_cast<float>(block.depth);
            ImGui::GetWindowDrawList()->AddText({start.x + outer, start.y}, ui.theme.muted,
                                                block.bullet.c_str());
            drawSpans(ui, block, outer + lettersWidth(block.bullet) + ui.px(6));
            break;
        }
        case BlockKind::quote:
            drawSpans(ui, block, ui.px(12));
            ImGui::GetWindowDrawList()->AddLine(start, {start.x, ImGui::GetItemRectMax().y}, ui.theme.border,
                                                ui.line(2));
            break;
        case BlockKind::paragraph:
        case BlockKind::heading: drawSpans(ui, block, 0); break;
        }
    }
}

} // namespace lockstep::demos
