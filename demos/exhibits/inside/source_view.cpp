#include "demos/exhibits/inside/source_view.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

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

} // namespace

std::vector<std::string_view> linesOf(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

namespace {

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

std::vector<std::string> withIncludes(const std::string& file) {
    std::vector<std::string> files{file};
    for (std::size_t i = 0; i < files.size(); ++i)
        for (const std::string_view line : linesOf(sourceText(files[i]))) {
            constexpr std::string_view word = "#include \"";
            if (!line.starts_with(word)) continue;
            const std::string_view rest = line.substr(word.size());
            const std::string included(rest.substr(0, rest.find('"')));
            if (sourceText(included).empty() || std::ranges::find(files, included) != files.end()) continue;
            files.push_back(included);
        }
    return files;
}

void SourceView::show(const std::string& shader, const std::string& twinFile, const std::string& function) {
    if (shader == shader_ && function == function_) return;
    shader_ = shader;
    function_ = function;
    twinFile_ = twinFile;
    files_ = shader.empty() ? std::vector<std::string>{} : withIncludes(shader + ".comp");
    file_ = 0;
    lit_ = functionIn(linesOf(sourceText(twinFile)), function);
    scroll_ = settling;
}

void SourceView::draw(Ui& ui, const TracedOperation& operation, const TracedOperation* gpu) {
    const Twin twin = twinOf(operation);
    show(gpu == nullptr ? std::string() : gpu->source, twin.file, twin.function);
    const std::array<std::string, 3> names{"Both", "GLSL", "C++ twin"};
    if (!files_.empty()) {
        ui.segments("##inside/panes", panes_, names);
        if (panes_ != 2 && files_.size() > 1) {
            ImGui::SameLine();
            ImGui::SetNextItemWidth(
                std::max(ui.px(60), std::min(ImGui::GetContentRegionAvail().x, ui.px(260))));
            if (ui.combo("##inside/shader", file_, files_)) scroll_ = settling;
        }
    }
    const bool both = panes_ == 0 && !files_.empty();
    const float whole = ImGui::GetContentRegionAvail().x;
    const float width = both ? (whole - ui.px(10)) / 2 : whole;
    if (!files_.empty() && panes_ != 2) drawPane(ui, "glsl", files_[file_], {}, width, scroll_ > 0);
    if (both) ImGui::SameLine(0, ui.px(10));
    if (files_.empty() || panes_ != 1) drawPane(ui, "twin", twinFile_, lit_, width, scroll_ > 0);
    scroll_ = std::max(scroll_ - 1, 0);
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

void SourceView::drawPane(Ui& ui, const char* id, const std::string& file, SourceRange lit, float width,
                          bool scroll) const {
    const bool gpu = lit.end == 0;
    ImGui::BeginGroup();
    ui.text(gpu ? "GPU  " + file : "CPU twin  " + file, gpu ? ui.theme.gpu : ui.theme.cpu, ui.fonts.strong);
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
    const std::vector<SourceRow> rows = rowsOf(linesOf(sourceText(file)), columns);
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
