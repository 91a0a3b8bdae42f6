#include "demos/exhibits/ladder/source_diff.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "demos/kit/source_text.h"

namespace lockstep::demos {

std::vector<DiffLine> lineDiff(std::string_view before, std::string_view after) {
    const std::vector<std::string_view> a = linesOf(before);
    const std::vector<std::string_view> b = linesOf(after);
    // common[i][j]: length of the longest common subsequence of the lines from a[i] and from b[j] on.
    std::vector<std::vector<std::size_t>> common(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = a.size(); i-- > 0;)
        for (std::size_t j = b.size(); j-- > 0;)
            common[i][j] =
                a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    std::vector<DiffLine> diff;
    std::vector<DiffLine> added; // kept back until nothing more is removed
    const auto putAdded = [&] {
        diff.insert(diff.end(), added.begin(), added.end());
        added.clear();
    };
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() || j < b.size()) {
        if (i < a.size() && j < b.size() && a[i] == b[j]) {
            putAdded();
            ++i;
            ++j;
            diff.push_back({LineChange::same, b[j - 1], j});
        } else if (j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1])) {
            ++i;
            diff.push_back({LineChange::removed, a[i - 1], i});
        } else {
            ++j;
            added.push_back({LineChange::added, b[j - 1], j});
        }
    }
    putAdded();
    return diff;
}

std::vector<DiffPart> foldedParts(const std::vector<DiffLine>& diff, std::size_t context) {
    constexpr std::size_t fewest = 3;
    std::vector<bool> shown(diff.size());
    for (std::size_t at = 0; at < diff.size(); ++at) {
        if (diff[at].change == LineChange::same) continue;
        const std::size_t from = at - std::min(at, context);
        const std::size_t to = std::min(at + context + 1, diff.size());
        std::fill(shown.begin() + static_cast<std::ptrdiff_t>(from),
                  shown.begin() + static_cast<std::ptrdiff_t>(to), true);
    }
    std::vector<DiffPart> parts;
    for (std::size_t begin = 0; begin < diff.size();) {
        std::size_t end = begin;
        while (end < diff.size() && shown[end] == shown[begin]) ++end;
        const bool folded = !shown[begin] && end - begin >= fewest;
        if (!parts.empty() && !folded && !parts.back().folded)
            parts.back().end = end;
        else
            parts.push_back({begin, end, folded});
        begin = end;
    }
    return parts;
}

namespace {

constexpr std::size_t contextLines = 3;

const char* signOf(LineChange change) {
    return change == LineChange::added ? "+" : change == LineChange::removed ? "-" : " ";
}

std::vector<std::string> commonFiles(const std::string& a, const std::string& b) {
    std::vector<std::string> files = withIncludes({}, a);
    const std::vector<std::string> others = withIncludes({}, b);
    std::erase_if(files,
                  [&](const std::string& file) { return std::ranges::find(others, file) == others.end(); });
    return files;
}

ImU32 colourOf(const Theme& theme, LineChange change) {
    return change == LineChange::added ? theme.good : theme.bad;
}

} // namespace

void SourceDiffView::show(const RungRow& rung) {
    if (lane_ == rung.lane) return;
    lane_ = rung.lane;
    toTop_ = true;
    const std::string file(rung.file);
    const RungRow* below = rung.below ? &rowOf(*rung.below) : nullptr;
    belowLane_ = below != nullptr ? below->lane : "";
    const std::string other(below == nullptr       ? std::string_view()
                            : rung.against.empty() ? below->file
                                                   : rung.against);
    // Files that both include are the same, and would only get in the way.
    const std::vector<std::string> common =
        below != nullptr ? commonFiles(file, other) : withIncludes({}, file);
    before_ = below != nullptr ? withIncludesExpanded({}, other, common) : std::string();
    after_ = withIncludesExpanded({}, file, common);
    diff_ = below != nullptr ? lineDiff(before_, after_) : std::vector<DiffLine>();
    if (below == nullptr)
        for (const std::string_view line : linesOf(after_))
            diff_.push_back({LineChange::same, line, diff_.size() + 1});
    title_ = below != nullptr ? fmt::format("changes from {}", below->lane) : file;
}

void SourceDiffView::draw(Ui& ui, const RungRow& rung) {
    show(rung);
    if (after_.empty()) {
        ui.paragraph("This rung has no source of its own: it uses the kernels of the other rungs.",
                     ui.theme.muted);
        return;
    }
    const std::array<std::string, 2> names{"Changes", "All lines"};
    std::size_t chosen = whole_ ? 1 : 0;
    if (!belowLane_.empty()) {
        if (ui.segments("##ladder/lines", chosen, names)) {
            whole_ = chosen == 1;
            toTop_ = true;
        }
        ImGui::SameLine(0, ui.px(12));
        ImGui::AlignTextToFramePadding();
    }
    ui.text(fittedText(title_, ImGui::GetContentRegionAvail().x), ui.theme.gpu, ui.fonts.strong);
    drawLines(ui);
}

void SourceDiffView::drawLines(Ui& ui) {
    ImGui::PushStyleColor(ImGuiCol_ChildBg, ui.theme.background);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(8), ui.px(6)});
    ImGui::BeginChild("ladder/source", {0, 0}, true,
                      ImGuiWindowFlags_HorizontalScrollbar | ImGuiWindowFlags_AlwaysUseWindowPadding);
    ImGui::PopStyleVar();
    if (toTop_) ImGui::SetScrollY(0);
    toTop_ = false;
    ImGui::PushFont(ui.fonts.mono);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
    const float letter = ImGui::CalcTextSize("m").x;
    const float height = ImGui::GetTextLineHeight();
    std::vector<DiffPart> parts{{0, diff_.size(), false}};
    if (!belowLane_.empty() && !whole_) parts = foldedParts(diff_, contextLines);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    for (const DiffPart& part : parts) {
        if (part.folded) {
            ui.muted(fmt::format("     … {} lines as below", part.end - part.begin));
            continue;
        }
        for (std::size_t i = part.begin; i < part.end; ++i) {
            const DiffLine& line = diff_[i];
            const ImVec2 at = ImGui::GetCursorScreenPos();
            const float width =
                6 * letter + ImGui::CalcTextSize(line.text.data(), line.text.data() + line.text.size()).x;
            const float right = std::max(at.x + width, ImGui::GetWindowPos().x + ImGui::GetWindowWidth());
            const bool changed = line.change != LineChange::same;
            if (changed)
                draw.AddRectFilled(at, {right, at.y + height}, faded(colourOf(ui.theme, line.change), 0.16f));
            draw.AddText(at, ui.theme.muted, fmt::format("{:3}", line.number).c_str());
            if (changed)
                draw.AddText({at.x + 4 * letter, at.y}, colourOf(ui.theme, line.change), signOf(line.change));
            const std::size_t indent = std::min(line.text.find_first_not_of(' '), line.text.size());
            const bool comment = line.text.substr(indent).starts_with("//");
            const bool quiet = comment || line.change == LineChange::removed;
            draw.AddText({at.x + 6 * letter, at.y}, quiet ? ui.theme.muted : ui.theme.text, line.text.data(),
                         line.text.data() + line.text.size());
            ImGui::Dummy({width, height});
        }
    }
    ImGui::PopStyleVar();
    ImGui::PopFont();
    ImGui::EndChild();
    ImGui::PopStyleColor();
}

} // namespace lockstep::demos
