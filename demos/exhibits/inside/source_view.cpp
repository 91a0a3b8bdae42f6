#include "demos/exhibits/inside/source_view.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "demos/exhibits/inside/edit_words.h"
#include "demos/exhibits/inside/operation_words.h"
#include "demos/exhibits/inside/sources.h"

namespace lockstep::demos {

namespace {

constexpr int settling = 3; // frames

struct Twin {
    const char* file;
    const char* function;
};

Twin twinOf(const TracedOperation& operation) {
    switch (kindOf(operation)) {
    case OperationKind::gather: return {"plain_ops.cpp", "gatherBatch"};
    case OperationKind::forward: return {"plain_ops.cpp", "dense"};
    case OperationKind::loss: return {"plain_loss.cpp", "lossAndGradient"};
    case OperationKind::backwardInputs: return {"plain_ops.cpp", "denseBackwardInputs"};
    case OperationKind::backwardWeights: return {"plain_ops.cpp", "denseBackwardWeights"};
    case OperationKind::update: return {"plain_update.cpp", "update"};
    }
    return {"plain_ops.cpp", "dense"};
}

/// Where to break a text that is longer than `columns`: after the last blank that fits.
std::size_t breakAt(std::string_view text, std::size_t columns) {
    if (text.size() <= columns) return text.size();
    const std::size_t blank = text.rfind(' ', columns);
    return blank == std::string_view::npos || blank == 0 ? columns : blank + 1;
}

} // namespace

std::vector<SourceRow> rowsOf(const std::vector<std::string_view>& lines, std::size_t columns) {
    constexpr std::size_t deeper = 4;
    std::vector<SourceRow> rows;
    for (std::size_t line = 0; line < lines.size(); ++line) {
        std::string_view rest = lines[line];
        const std::size_t indent = std::min(rest.find_first_not_of(' '), std::min(rest.size(), columns / 2));
        rest.remove_prefix(indent);
        const bool comment = rest.starts_with("//");
        SourceRow row{line, true, indent, {}, comment};
        do {
            const std::size_t taken = breakAt(rest, columns - row.indent);
            row.text = rest.substr(0, taken);
            rows.push_back(row);
            rest.remove_prefix(taken);
            row.first = false;
            row.indent = std::min(indent + deeper, columns / 2);
        } while (!rest.empty());
    }
    return rows;
}

// Definitions begin in the first column and end with a brace there.
SourceRange functionIn(const std::vector<std::string_view>& lines, std::string_view function) {
    const std::string call = std::string(function) + "(";
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string_view line = lines[i];
        const std::size_t at = line.find(" " + call);
        if (at == std::string_view::npos || line.starts_with(' ') || line.starts_with("//")) continue;
        const auto close = std::find(lines.begin() + static_cast<std::ptrdiff_t>(i), lines.end(), "}");
        if (close == lines.end()) return {};
        const std::size_t begin = i > 0 && lines[i - 1].starts_with("template <") ? i - 1 : i;
        return {begin, static_cast<std::size_t>(close - lines.begin()) + 1};
    }
    return {};
}

void SourceView::show(const ShaderEdits& edits, const std::string& shader, const std::string& twinFile,
                      const std::string& function) {
    files_ = shader.empty() ? std::vector<std::string>{} : withIncludes(edits.texts(), shader + ".comp");
    file_ = std::min(file_, files_.empty() ? 0 : files_.size() - 1);
    if (shader == shader_ && function == function_) return;
    shader_ = shader;
    function_ = function;
    twinFile_ = twinFile;
    file_ = 0;
    lit_ = functionIn(linesOf(sourceText(twinFile)), function);
    scroll_ = settling;
}

void SourceView::draw(Ui& ui, const TracedOperation& operation, const TracedOperation* gpu,
                      ShaderEdits& edits) {
    const Twin twin = twinOf(operation);
    show(edits, gpu == nullptr ? std::string() : gpu->source, twin.file, twin.function);
    if (!files_.empty()) drawChoices(ui);
    const bool both = panes_ == 0 && !files_.empty();
    const bool edited = editing_ && !files_.empty() && panes_ != 2;
    if (edited) drawEditing(ui, edits);
    const float whole = ImGui::GetContentRegionAvail().x;
    const float width = both ? (whole - ui.px(10)) / 2 : whole;
    if (edited)
        drawEditor(ui, edits, width);
    else if (!files_.empty() && panes_ != 2) {
        const std::string& file = files_[file_];
        const char* mark = edits.texts().contains(file) ? ", edited" : "";
        drawPane(ui, "glsl", "GPU  " + file + mark, textOf(edits.texts(), file), {}, width, scroll_ > 0);
    }
    if (both) ImGui::SameLine(0, ui.px(10));
    if (files_.empty() || panes_ != 1)
        drawPane(ui, "twin", "CPU twin  " + twinFile_, sourceText(twinFile_), lit_, width, scroll_ > 0);
    scroll_ = std::max(scroll_ - 1, 0);
}

void SourceView::drawChoices(Ui& ui) {
    const std::array<std::string, 3> names{"Both", "GLSL", "C++ twin"};
    ui.segments("##inside/panes", panes_, names);
    if (panes_ == 2) return;
    const float edit = ImGui::CalcTextSize("Edit").x + 2 * ImGui::GetStyle().FramePadding.x;
    if (files_.size() > 1) {
        ImGui::SameLine();
        const float room = ImGui::GetContentRegionAvail().x - edit - ImGui::GetStyle().ItemSpacing.x;
        ImGui::SetNextItemWidth(std::max(ui.px(60), std::min(room, ui.px(260))));
        if (ui.combo("##inside/shader", file_, files_)) scroll_ = settling;
    }
    ImGui::SameLine();
    if (ui.toggle("Edit##inside", editing_)) editing_ = !editing_;
}

void SourceView::drawEditing(Ui& ui, ShaderEdits& edits) {
    const std::string& file = files_[file_];
    if (ui.primaryButton("Check and run", edits.canSubmit())) edits.submit();
    ImGui::SameLine();
    const bool changed = edits.texts().contains(file) || edits.submitted().contains(file);
    if (ui.button("Revert##inside", changed)) edits.revert(file);
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    const EditStatus status = statusOf(edits);
    const bool masked = ui.masked && !status.timing.empty();
    ui.paragraph(status.text + (masked ? " -" : status.timing), colourOf(ui.theme, status.tone));
    const TrialReport* last = edits.last();
    if (last == nullptr) return;
    constexpr std::size_t most = 3;
    for (std::size_t i = 0; i < std::min(most, last->errors.size()); ++i)
        ui.paragraph(describe(last->errors[i]), ui.theme.bad);
}

void SourceView::drawEditor(Ui& ui, ShaderEdits& edits, float width) {
    const std::string& file = files_[file_];
    const std::vector<CompileError> errors =
        edits.last() == nullptr ? std::vector<CompileError>{} : edits.last()->errors;
    std::vector<std::size_t> marked;
    for (const CompileError& error : errors)
        if (error.file == file) marked.push_back(error.line);
    if (errors != seen_ && !marked.empty()) editor_.reveal(marked.front());
    seen_ = errors;
    std::string text(textOf(edits.texts(), file));
    ImGui::BeginGroup();
    ui.text("GPU  " + file + (edits.texts().contains(file) ? ", edited" : ""), ui.theme.gpu, ui.fonts.strong);
    ImGui::PushID(file.c_str()); // each file has a caret and a way back of its own
    const bool submitted = editor_.draw(ui, "##inside/code", text, marked, {width, 0});
    ImGui::PopID();
    ImGui::EndGroup();
    if (text != textOf(edits.texts(), file)) edits.setText(file, std::move(text));
    if (submitted && edits.canSubmit()) edits.submit();
}

void SourceView::drawRow(Ui& ui, const SourceRow& row, SourceRange lit, float left) const {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ui.muted(row.first ? fmt::format("{:3}", row.line + 1) : std::string(" "));
    if (row.line >= lit.begin && row.line < lit.end) {
        const float x = at.x + left - ImGui::GetWindowContentRegionMin().x - ui.px(7);
        ImGui::GetWindowDrawList()->AddRectFilled(
            {x, at.y}, {x + ui.px(3), at.y + ImGui::GetTextLineHeight()}, ui.theme.cpu);
    }
    ImGui::SameLine(left);
    ui.text(std::string(row.indent, ' ') + std::string(row.text), row.comment ? ui.theme.muted : 0);
}

void SourceView::drawPane(Ui& ui, const char* id, const std::string& title, std::string_view text,
                          SourceRange lit, float width, bool scroll) const {
    const bool gpu = lit.end == 0;
    ImGui::BeginGroup();
    ui.text(title, gpu ? ui.theme.gpu : ui.theme.cpu, ui.fonts.strong);
    ImGui::PushStyleColor(ImGuiCol_ChildBg, ui.theme.background);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(8), ui.px(6)});
    ImGui::BeginChild(id, {width, 0}, true);
    ImGui::PopStyleVar();
    ImGui::PushFont(ui.fonts.mono);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
    const float letter = ImGui::CalcTextSize("m").x;
    const float gutter = 4.5f * letter;
    const float room = width - ui.px(18) - gutter - ImGui::GetStyle().ScrollbarSize;
    const auto columns = static_cast<std::size_t>(std::max(room / letter, 16.0f));
    const std::vector<SourceRow> rows = rowsOf(linesOf(text), columns);
    const float height = ImGui::GetTextLineHeight();
    const ImVec2 top = ImGui::GetCursorPos();
    const auto first = std::ranges::find(rows, lit.begin, &SourceRow::line) - rows.begin();
    if (scroll) ImGui::SetScrollY(gpu ? 0 : top.y + static_cast<float>(first) * height);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows.size()), height);
    while (clipper.Step())
        for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
            drawRow(ui, rows[static_cast<std::size_t>(i)], lit, top.x + gutter);
    clipper.End();
    ImGui::PopStyleVar();
    ImGui::PopFont();
    ImGui::EndChild();
    ImGui::PopStyleColor();
    ImGui::EndGroup();
}

} // namespace lockstep::demos
