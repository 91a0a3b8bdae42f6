#include "demos/exhibits/ladder/source_diff.h"

#include <algorithm>
#include <array>

#include "demos/kit/source_pane.h"
#include "demos/kit/source_text.h"
#include "demos/words/language.h"

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
constexpr int settling = 3; // frames

ImU32 colourOfChange(const Theme& theme, LineChange change) {
    return change == LineChange::added ? theme.good : theme.bad;
}

} // namespace

void SourceDiffView::show(const RungRow& rung, bool compare) {
    if (lane_ == rung.lane) return;
    lane_ = rung.lane;
    scroll_ = settling;
    first_ = 0;
    const std::string file(rung.file);
    std::vector<std::string> common = withIncludes({}, file);
    diff_.clear();
    compared_ = compare && rung.below.has_value();
    std::string other;
    if (rung.below) {
        const RungRow& below = rowOf(*rung.below);
        other = rung.against.empty() ? below.file : rung.against;
        title_ = translatedFormat("changes from {}", below.lane);
        // Files that both include are the same, and would only get in the way.
        const std::vector<std::string> others = withIncludes({}, other);
        std::erase_if(common, [&](const std::string& each) { return !std::ranges::count(others, each); });
    }
    after_ = withIncludesExpanded({}, file, common);
    if (compared_) {
        before_ = withIncludesExpanded({}, other, common);
        diff_ = lineDiff(before_, after_);
        return;
    }
    title_ = file;
    for (const std::string_view line : linesOf(after_)) {
        constexpr std::size_t leading = 6; // the loops around it
        diff_.push_back({LineChange::same, line, diff_.size() + 1});
        if (!compare && first_ == 0 && line.find(" fma(") != std::string_view::npos)
            first_ = diff_.size() - std::min(diff_.size(), leading);
    }
}

void SourceDiffView::drawPlain(Ui& ui, const RungRow& rung) {
    show(rung, false);
    drawLines(ui, "ladder/plain source");
}

void SourceDiffView::draw(Ui& ui, const RungRow& rung) {
    show(rung, true);
    if (after_.empty()) {
        ui.paragraph("This rung has no source of its own: it uses the kernels of the other rungs.",
                     ui.theme.muted);
        return;
    }
    std::size_t chosen = whole ? 1 : 0;
    if (compared_) {
        if (ui.segments("##ladder/lines", "Shows all lines, or only what differs from the rung before.",
                        chosen, std::array<std::string, 2>{"Changes", "All lines"})) {
            whole = chosen == 1;
            scroll_ = settling;
        }
        ImGui::SameLine(0, ui.px(12));
        ImGui::AlignTextToFramePadding();
    }
    ui.text(fittedText(title_, ImGui::GetContentRegionAvail().x), ui.theme.gpu, ui.fonts.strong);
    drawLines(ui, "ladder/source");
}

void SourceDiffView::drawLines(Ui& ui, const char* pane) {
    beginSourcePane(ui, pane, {0, 0});
    const float letter = ImGui::CalcTextSize("m").x;
    const float height = sourceRowHeight();
    if (scroll_ > 0) {
        ImGui::SetScrollY(static_cast<float>(first_) * height);
        --scroll_;
    }
    std::vector<DiffPart> parts{{0, diff_.size(), false}};
    if (compared_ && !whole) parts = foldedParts(diff_, contextLines);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    for (const DiffPart& part : parts) {
        if (part.folded) {
            ui.muted(translatedFormat("     … {} lines as below", part.end - part.begin));
            continue;
        }
        for (std::size_t i = part.begin; i < part.end; ++i) {
            const DiffLine& line = diff_[i];
            const bool changed = line.change != LineChange::same;
            const float gutter = 6 * letter;
            if (changed) {
                const ImVec2 at = ImGui::GetCursorScreenPos();
                const float right = ImGui::GetWindowPos().x + ImGui::GetWindowWidth();
                draw.AddRectFilled(at, {right, at.y + height},
                                   faded(colourOfChange(ui.theme, line.change), 0.16f));
            }
            const ImVec2 left = drawSourceLine(
                ui, line.number, line.text, {.gutter = gutter, .quiet = line.change == LineChange::removed});
            if (changed)
                draw.AddText({left.x + 4 * letter, left.y}, colourOfChange(ui.theme, line.change),
                             line.change == LineChange::added ? "+" : "-");
        }
    }
    endSourcePane();
}

} // namespace lockstep::demos
