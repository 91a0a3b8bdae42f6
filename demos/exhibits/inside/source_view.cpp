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

void SourceView::draw(Ui& ui, const TracedOperation& operation, const TracedOperation* gpu,
                      const ShaderTexts& ran, ShaderEdits& edits) {
    const OperationWords& row = wordsOf(operation.operation);
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
        drawPane(ui, title, text, firstFunctionIn(linesOf(text)), ui.theme.gpu, width);
    }
    if (both) ImGui::SameLine(0, ui.px(10));
    if (files_.empty() || panes != 1)
        drawPane(ui, translatedFormat("CPU reference  {}", row.plainFile), sourceText(row.plainFile), lit_,
                 ui.theme.cpu, width);
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

void SourceView::drawPane(Ui& ui, const std::string& title, std::string_view text, const SourceRange& lit,
                          ImU32 colour, float width) const {
    ImGui::BeginGroup();
    ui.text(title, colour, ui.fonts.strong);
    beginSourcePane(ui, colour == ui.theme.gpu ? "glsl" : "plain", {width, 0});
    const float letter = ImGui::CalcTextSize("m").x;
    const float gutter = gutterLetters * letter;
    const std::vector<std::string_view> lines = linesOf(text);
    // Wrapped: what a lesson points at must not be out of sight at the right.
    const float wide = std::max(ImGui::GetContentRegionAvail().x - gutter, 20 * letter);
    const float top = ImGui::GetCursorPosY();
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (scroll_ > 0 && i == lit.begin) ImGui::SetScrollY(ImGui::GetCursorPosY() - top);
        const ImVec2 at = drawSourceLine(ui, i + 1, lines[i], {.gutter = gutter, .wrap = wide});
        const float x = at.x + gutter - ui.px(7);
        if (i >= lit.begin && i < lit.end)
            ImGui::GetWindowDrawList()->AddRectFilled({x, at.y}, {x + ui.px(3), ImGui::GetItemRectMax().y},
                                                      colour);
    }
    endSourcePane();
    ImGui::EndGroup();
}

} // namespace lockstep::demos
