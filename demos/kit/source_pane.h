// Source texts as exhibits show them: a scrolled pane of lines in letters of one width, with their numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "demos/draw/ui.h"
#include "demos/kit/source_text.h"

namespace lockstep::demos {

/// Everything until endSourcePane() is drawn in a framed pane that scrolls, in letters of one width, line
/// below line. width and height 0: all there is.
inline void beginSourcePane(Ui& ui, const char* id, ImVec2 size) {
    ImGui::PushStyleColor(ImGuiCol_ChildBg, ui.theme.background);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(8), ui.px(6)});
    ImGui::BeginChild(id, size, true,
                      ImGuiWindowFlags_HorizontalScrollbar | ImGuiWindowFlags_AlwaysUseWindowPadding);
    ImGui::PopStyleVar();
    ImGui::PushFont(ui.fonts.mono);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
}

inline void endSourcePane() {
    ImGui::PopStyleVar();
    ImGui::PopFont();
    ImGui::EndChild();
    ImGui::PopStyleColor();
}

inline ImU32 colourOf(const Theme& theme, SourceWord word) {
    switch (word) {
    case SourceWord::keyword:
    case SourceWord::directive: return legible(theme, seriesColour(theme, 3));
    case SourceWord::type: return legible(theme, theme.gpu);
    case SourceWord::number: return legible(theme, theme.cpu);
    case SourceWord::comment: return theme.muted;
    case SourceWord::other: break;
    }
    return theme.text;
}

/// How high a row of a pane is, with room for what hangs below letters: pixels.
inline float sourceRowHeight() { return std::ceil(1.15f * ImGui::GetTextLineHeight()); }

struct SourceLineLook {
    float gutter = 0;   ///< pixels that the numbers take
    float wrap = 0;     ///< width in pixels from which on a line goes on below; 0: it does not
    bool quiet = false; ///< muted
};

/// Where the line goes on below, in bytes from its begin: behind blanks and commas where it can.
inline std::vector<std::size_t> sourceBreaks(std::string_view line, std::size_t letters, std::size_t indent) {
    std::vector<std::size_t> breaks;
    const auto letter = [&](std::size_t at) { return (static_cast<unsigned char>(line[at]) & 0xC0) != 0x80; };
    std::size_t seen = 0, begin = 0, after = 0; // letters of the row, its begin, the last place to break at
    for (std::size_t at = 0; at < line.size(); ++at) {
        if (letter(at) && ++seen > letters) {
            if (after <= begin) after = at;
            breaks.push_back(after);
            begin = after;
            seen = indent;
            at = begin - 1; // what has come into the next row is counted again
            continue;
        }
        const bool text = line.find_first_not_of(' ') < at;
        if (text && (line[at] == ' ' || line[at] == ',' || line[at] == '(')) after = at + 1;
    }
    return breaks;
}

/// Draws one line of a pane in the colours of its words, and returns where it begins. Its number, counted
/// from 1, stays in the gutter on the left while the text scrolls to the side. The item is as high as all of
/// the line's rows.
inline ImVec2 drawSourceLine(Ui& ui, std::size_t number, std::string_view line, const SourceLineLook& look) {
    constexpr std::size_t hanging = 4; // letters by which a row that goes on is set in
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = sourceRowHeight();
    const float letter = ImGui::CalcTextSize("m").x;
    const float left = at.x + ImGui::GetScrollX();
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowWidth();
    std::vector<std::size_t> breaks;
    const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
    std::size_t indent = first + hanging;
    if (look.wrap > 0) {
        const auto letters = static_cast<std::size_t>(std::max(look.wrap / letter, 8.0f));
        indent = std::min(indent, letters / 2);
        breaks = sourceBreaks(line, letters, indent);
    }
    const float rows = static_cast<float>(breaks.size() + 1);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddText({left, at.y}, ui.theme.muted, fmt::format("{:3}", number).c_str());
    draw.PushClipRect({left + look.gutter, at.y}, {right, at.y + rows * height + ui.px(2)}, true);
    float x = at.x + look.gutter, y = at.y, widest = x;
    std::size_t place = 0, row = 0; // in the line
    if (ImGui::IsRectVisible(at, {right, at.y + rows * height}))
        for (const SourcePiece& piece : sourcePieces(line)) {
            const ImU32 colour = look.quiet ? ui.theme.muted : colourOf(ui.theme, piece.word);
            for (std::string_view rest = piece.text; !rest.empty();) {
                if (row < breaks.size() && place == breaks[row]) {
                    ++row;
                    x = at.x + look.gutter + static_cast<float>(indent) * letter;
                    y += height;
                }
                const std::size_t end = row < breaks.size() ? breaks[row] - place : rest.size();
                const std::string_view part = rest.substr(0, end);
                draw.AddText({x, y}, colour, part.data(), part.data() + part.size());
                x += lettersWidth(part);
                widest = std::max(widest, x);
                place += part.size();
                rest.remove_prefix(part.size());
            }
        }
    draw.PopClipRect();
    const float wide = breaks.empty()
                           ? look.gutter + ImGui::CalcTextSize(line.data(), line.data() + line.size()).x
                           : widest - at.x;
    ImGui::Dummy({wide, rows * height});
    return {left, at.y};
}

} // namespace lockstep::demos
