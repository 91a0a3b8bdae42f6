#include "demos/exhibits/inside/inside.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "demos/exhibits/inside/operation_words.h"
#include "demos/kit/source_pane.h"
#include "demos/kit/source_text.h"
#include "demos/words/language.h"

namespace lockstep::demos {

namespace {

constexpr int settling = 3; // frames

/// Up to the brace that closes a definition in the first column; empty without one.
SourceRange definitionFrom(const std::vector<std::string_view>& lines, std::size_t begin) {
    const auto close = std::find(lines.begin() + static_cast<std::ptrdiff_t>(begin), lines.end(), "}");
    if (close == lines.end()) return {};
    return {begin, static_cast<std::size_t>(close - lines.begin()) + 1};
}

/// Where the last row of a line ends that is drawn with this look, in pixels from the first letter's place.
float endOfLastRow(std::string_view line, float wrap) {
    const float letter = ImGui::CalcTextSize("m").x;
    const auto letters = static_cast<std::size_t>(wrap / letter);
    const std::size_t indent = std::min(line.find_first_not_of(' ') + 4, letters / 2);
    const std::vector<std::size_t> breaks = sourceBreaks(line, letters, indent);
    return letter * static_cast<float>(breaks.empty() ? line.size() : indent + line.size() - breaks.back());
}

/// Draws a line and, at the right end of its last row or of one below, the part of the formula that it
/// computes. Returns where it begins.
ImVec2 drawLinkedLine(Ui& ui, std::size_t number, std::string_view line, const SourceLineLook& look,
                      const EquationPart& part, ImU32 colour) {
    const ImVec2 at = drawSourceLine(ui, number, line, look);
    const float tag = lettersWidth(part.text) + ui.px(8);
    if (endOfLastRow(line, look.wrap) + tag > look.wrap) ImGui::Dummy({1, sourceRowHeight()});
    const ImVec2 end{at.x + look.gutter + look.wrap, ImGui::GetItemRectMax().y};
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRectFilled({at.x + look.gutter - ui.px(3), at.y}, end, faded(colour, 0.16f), ui.px(3));
    draw.AddText({end.x - tag + ui.px(4), end.y - sourceRowHeight()}, legible(ui.theme, colour),
                 part.text.c_str());
    return at;
}

// The rungs of products are short files; what computes is in a file that they include.
std::size_t mainFile(const ShaderTexts& texts, const std::vector<std::string>& files) {
    for (std::size_t i = 0; i < files.size(); ++i)
        if (texts.contains(files[i])) return i;
    for (std::size_t i = 0; i < files.size(); ++i)
        if (functionIn(linesOf(textOf(texts, files[i])), "main").end > 0) return i;
    return 0;
}

} // namespace

// Definitions begin in the first column and end with a brace there.
SourceRange firstFunctionIn(const std::vector<std::string_view>& lines) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string_view line = lines[i];
        const bool head = !line.empty() &&
                          std::string_view(" /#").find(line.front()) == std::string_view::npos &&
                          !line.starts_with("layout") && line.ends_with(") {");
        if (head) return definitionFrom(lines, i);
    }
    return {};
}

SourceRange functionIn(const std::vector<std::string_view>& lines, std::string_view function) {
    const std::string call = std::string(function) + "(";
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string_view line = lines[i];
        const std::size_t at = line.find(" " + call);
        if (at == std::string_view::npos || line.starts_with(' ') || line.starts_with("//")) continue;
        return definitionFrom(lines, i > 0 && lines[i - 1].starts_with("template <") ? i - 1 : i);
    }
    return {};
}

void SourceView::show(const ShaderEdits& edits, const std::string& shader, const OperationWords& row) {
    files_ = shader.empty() ? std::vector<std::string>{} : withIncludes(edits.texts(), shader + ".comp");
    file_ = std::min(file_, files_.empty() ? 0 : files_.size() - 1);
    if (shader == shader_ && &row == row_) return;
    shader_ = shader;
    row_ = &row;
    file_ = mainFile(edits.texts(), files_);
    lit_ = functionIn(linesOf(sourceText(row.plainFile)), row.plainFunction);
    scroll_ = settling;
}

ImU32 colourOfPart(const Theme& theme, std::size_t part) {
    constexpr std::size_t series[] = {2, 3, 4}; // not the machines' colours
    return seriesColour(theme, series[part % std::size(series)]);
}

void underlineParts(const Ui& ui, std::span<const EquationPart> parts,
                    std::span<const std::string_view> lines, ImVec2 at) {
    const float height = ImGui::GetTextLineHeight();
    for (std::size_t i = 0; i < parts.size(); ++i) {
        float y = at.y;
        for (const std::string_view line : lines) {
            y += height;
            const std::size_t place = line.find(parts[i].text);
            if (place == std::string_view::npos) continue;
            const float x = at.x + lettersWidth(line.substr(0, place));
            ImGui::GetWindowDrawList()->AddRectFilled(
                {x, y}, {x + lettersWidth(parts[i].text), y + ui.line(2)}, colourOfPart(ui.theme, i));
            break;
        }
    }
}

void SourceView::draw(Ui& ui, const TracedOperation& operation, const TracedOperation* gpu,
                      std::vector<EquationPart> parts, const ShaderTexts& ran, ShaderEdits& edits) {
    const OperationWords& row = wordsOf(operation.operation);
    parts_ = std::move(parts);
    show(edits, gpu == nullptr ? std::string() : gpu->source, row);
    if (!files_.empty()) drawChoices(ui);
    const bool both = panes == 0 && !files_.empty();
    const bool edited = editing && !files_.empty() && panes != 2;
    if (edited) editor_.drawStatus(ui, edits, insideEdits, files_, file_);
    const float whole = ImGui::GetContentRegionAvail().x;
    const float width = both ? (whole - ui.px(10)) / 2 : whole;
    if (edited)
        drawEditor(ui, edits, width);
    else if (!files_.empty() && panes != 2) {
        const std::string_view text = textOf(edits.texts(), files_[file_]);
        std::string title = fileTitle(files_[file_], edits.texts());
        if (text != textOf(ran, files_[file_])) title += translated(", not run yet");
        const std::vector<std::string_view> lines = linesOf(text);
        drawPane(ui, {title, text, firstFunctionIn(lines), {0, lines.size()}, ui.theme.gpu}, width);
    }
    if (both) ImGui::SameLine(0, ui.px(10));
    if (files_.empty() || panes != 1)
        drawPane(ui,
                 {translatedFormat("CPU reference  {}", row.plainFile), sourceText(row.plainFile), lit_, lit_,
                  ui.theme.cpu},
                 width);
    scroll_ = std::max(scroll_ - 1, 0);
}

void SourceView::drawChoices(Ui& ui) {
    ui.segments("##inside/panes", "Shows the GPU kernel, the plain C++ loop that computes the same, or both.",
                panes, std::array<std::string, 3>{"Both", "GLSL", "C++"});
    if (panes == 2) return;
    const float edit = ImGui::CalcTextSize("Edit").x + 2 * ImGui::GetStyle().FramePadding.x;
    if (files_.size() > 1) {
        ImGui::SameLine();
        const float room = ImGui::GetContentRegionAvail().x - edit - ImGui::GetStyle().ItemSpacing.x;
        ImGui::SetNextItemWidth(std::max(ui.px(60), std::min(room, ui.px(260))));
        if (ui.combo("##inside/shader", "The shader file shown: the kernel, or a file that it includes.",
                     file_, files_))
            scroll_ = settling;
    }
    ImGui::SameLine();
    if (ui.toggle("Edit##inside", insideEdits.edit, editing)) {
        editing = !editing;
        scroll_ = settling;
    }
}

void SourceView::drawEditor(Ui& ui, ShaderEdits& edits, float width) {
    std::optional<std::size_t> first;
    if (scroll_ > 0) first = firstFunctionIn(linesOf(textOf(edits.texts(), files_[file_]))).begin + 1;
    editor_.drawText(ui, edits, insideEdits, files_, file_, width, first);
}

void SourceView::drawPane(Ui& ui, const Pane& pane, float width) const {
    ImGui::BeginGroup();
    ui.text(pane.title, pane.colour, ui.fonts.strong);
    beginSourcePane(ui, pane.colour == ui.theme.gpu ? "glsl" : "plain", {width, 0});
    const float letter = ImGui::CalcTextSize("m").x;
    const float gutter = gutterLetters * letter;
    const std::vector<std::string_view> lines = linesOf(pane.text);
    // Wrapped: what a lesson points at must not be out of sight at the right.
    const SourceLineLook look{.gutter = gutter,
                              .wrap = std::max(ImGui::GetContentRegionAvail().x - gutter, 20 * letter)};
    const float height = ImGui::GetContentRegionAvail().y;
    const float top = ImGui::GetCursorPosY();
    float begin = 0, end = 0; // of the function; of the last line in it that computes a part
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (i == pane.lit.begin) begin = ImGui::GetCursorPosY() - top;
        const bool linked = i >= pane.linked.begin && i < pane.linked.end;
        const auto part = linked ? partComputedBy(lines[i], parts_) : std::nullopt;
        const ImVec2 at =
            part ? drawLinkedLine(ui, i + 1, lines[i], look, parts_[*part], colourOfPart(ui.theme, *part))
                 : drawSourceLine(ui, i + 1, lines[i], look);
        if (i < pane.lit.begin || i >= pane.lit.end) continue;
        if (part) end = ImGui::GetCursorPosY() - top;
        const float x = at.x + gutter - ui.px(7);
        ImGui::GetWindowDrawList()->AddRectFilled({x, at.y}, {x + ui.px(3), ImGui::GetItemRectMax().y},
                                                  pane.colour);
    }
    // To the function's first line or, in a small pane, to the lines that its formula names.
    if (scroll_ > 0) ImGui::SetScrollY(std::max(begin, end + 2 * sourceRowHeight() - height));
    endSourcePane();
    ImGui::EndGroup();
}

} // namespace lockstep::demos
