#include "demos/exhibits/inside/source_view.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "demos/exhibits/inside/operation_words.h"
#include "demos/exhibits/inside/sources.h"

namespace lockstep::demos {

namespace {

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
    scroll_ = true;
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
            if (ui.combo("##inside/shader", file_, files_)) scroll_ = true;
        }
    }
    const bool both = panes_ == 0 && !files_.empty();
    const float whole = ImGui::GetContentRegionAvail().x;
    const float width = both ? (whole - ui.px(10)) / 2 : whole;
    if (!files_.empty() && panes_ != 2) drawPane(ui, "glsl", files_[file_], {}, width, scroll_);
    if (both) ImGui::SameLine(0, ui.px(10));
    if (files_.empty() || panes_ != 1) drawPane(ui, "twin", twinFile_, lit_, width, scroll_);
    scroll_ = false;
}

void SourceView::drawPane(Ui& ui, const char* id, const std::string& file, SourceRange lit, float width,
                          bool scroll) const {
    const bool gpu = lit.end == 0;
    ImGui::BeginGroup();
    ui.text(gpu ? "GPU  " + file : "CPU twin  " + file, gpu ? ui.theme.gpu : ui.theme.cpu, ui.fonts.strong);
    ImGui::PushStyleColor(ImGuiCol_ChildBg, ui.theme.background);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(8), ui.px(6)});
    ImGui::BeginChild(id, {width, 0}, true, ImGuiWindowFlags_HorizontalScrollbar);
    ImGui::PopStyleVar();
    ImGui::PushFont(ui.fonts.mono);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
    const std::vector<std::string_view> lines = linesOf(sourceText(file));
    const float height = ImGui::GetTextLineHeight();
    const float top = ImGui::GetCursorPosY();
    if (scroll) ImGui::SetScrollY(lit.end == 0 ? 0 : top + static_cast<float>(lit.begin) * height - ui.px(8));
    const float gutter = ImGui::CalcTextSize("000 ").x;
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(lines.size()), height);
    while (clipper.Step())
        for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
            const auto number = static_cast<std::size_t>(i);
            const ImVec2 at = ImGui::GetCursorScreenPos();
            if (number >= lit.begin && number < lit.end)
                ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + ui.px(3), at.y + height}, ui.theme.cpu);
            ui.muted(fmt::format("{:3} ", number + 1));
            ImGui::SameLine(gutter + ui.px(12));
            const std::size_t comment = lines[number].find("//");
            ui.text(lines[number].substr(0, comment));
            if (comment == std::string_view::npos) continue;
            ImGui::SameLine(0, 0);
            ui.muted(lines[number].substr(comment));
        }
    clipper.End();
    ImGui::PopStyleVar();
    ImGui::PopFont();
    ImGui::EndChild();
    ImGui::PopStyleColor();
    ImGui::EndGroup();
}

} // namespace lockstep::demos
