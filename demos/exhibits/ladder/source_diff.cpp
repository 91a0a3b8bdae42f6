#include "demos/exhibits/ladder/source_diff.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "demos/exhibits/ladder/rung_words.h"
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

namespace {

/// A line's code without any white space; empty: a comment, or nothing.
std::string codeOf(std::string_view line) {
    std::string code;
    for (const SourcePiece& piece : sourcePieces(line))
        if (piece.word != SourceWord::comment)
            std::ranges::copy_if(piece.text, std::back_inserter(code),
                                 [](char letter) { return letter != ' ' && letter != '\t'; });
    return code;
}

bool holdsCode(const DiffLine& line) { return !codeOf(line.text).empty(); }

} // namespace

std::vector<DiffLine> codeChanges(const std::vector<DiffLine>& diff, std::size_t& hidden) {
    hidden = 0;
    std::vector<DiffLine> changes;
    for (std::size_t begin = 0; begin < diff.size();) {
        if (diff[begin].change == LineChange::same) {
            changes.push_back(diff[begin++]);
            continue;
        }
        std::string removed;
        std::string added;
        std::size_t end = begin;
        for (; end < diff.size() && diff[end].change != LineChange::same; ++end)
            (diff[end].change == LineChange::added ? added : removed) += codeOf(diff[end].text);
        const bool onlyLooks = removed == added;
        for (; begin < end; ++begin) {
            if (onlyLooks) ++hidden;
            if (!onlyLooks)
                changes.push_back(diff[begin]);
            else if (diff[begin].change == LineChange::added)
                changes.push_back({LineChange::same, diff[begin].text, diff[begin].number});
        }
    }
    return changes;
}

std::size_t tellingLine(const std::vector<DiffLine>& diff) {
    const auto added = [](const DiffLine& line) {
        return line.change == LineChange::added && holdsCode(line);
    };
    const auto loops = [](const DiffLine& line) {
        return std::ranges::any_of(sourcePieces(line.text), [](const SourcePiece& piece) {
            return piece.word == SourceWord::keyword && piece.text == "for";
        });
    };
    // A stretch of changes is worth as many as the lines of code that it removes; a changed loop counts for
    // more.
    constexpr std::size_t worthOfLoop = 100;
    std::size_t best = 0;
    std::size_t telling = diff.size();
    for (std::size_t begin = 0; begin < diff.size();) {
        std::size_t worth = 0;
        std::size_t firstRemoved = diff.size();
        bool faced = false;
        std::size_t end = begin;
        for (; end < diff.size() && diff[end].change != LineChange::same; ++end) {
            faced = faced || added(diff[end]);
            if (diff[end].change != LineChange::removed || !holdsCode(diff[end])) continue;
            if (worth == 0) firstRemoved = end;
            worth += loops(diff[end]) ? worthOfLoop : 1;
        }
        if (faced && worth > best) {
            best = worth;
            telling = firstRemoved;
        }
        begin = std::max(end, begin + 1);
    }
    if (telling < diff.size()) return telling;
    return static_cast<std::size_t>(std::ranges::find_if(diff, added) - diff.begin());
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
    // Prose that came or went in one piece would push the code out of sight.
    for (std::size_t begin = 0; begin < diff.size();) {
        std::size_t end = begin;
        while (end < diff.size() && diff[end].change == diff[begin].change &&
               diff[end].change != LineChange::same && !holdsCode(diff[end]))
            ++end;
        if (end - begin >= fewest)
            std::fill(shown.begin() + static_cast<std::ptrdiff_t>(begin),
                      shown.begin() + static_cast<std::ptrdiff_t>(end), false);
        begin = std::max(end, begin + 1);
    }
    std::vector<DiffPart> parts;
    for (std::size_t begin = 0; begin < diff.size();) {
        std::size_t end = begin;
        const auto alike = [&](std::size_t at) {
            return shown[at] == shown[begin] && (shown[at] || diff[at].change == diff[begin].change);
        };
        while (end < diff.size() && alike(end)) ++end;
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
constexpr std::size_t leadingLines = 6; // above the line that the pane begins with
constexpr int settling = 3;             // frames

/// The row of the pane to begin with, so that a line stands below some of what is above it.
std::size_t firstRowFor(const std::vector<DiffPart>& parts, std::size_t line) {
    std::size_t row = 0;
    for (const DiffPart& part : parts) {
        if (line < part.end) {
            if (!part.folded) row += line - part.begin;
            break;
        }
        row += part.folded ? 1 : part.end - part.begin;
    }
    return row - std::min(row, leadingLines);
}

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
    changes_.clear();
    hidden_ = 0;
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
        changes_ = codeChanges(diff_, hidden_);
        return;
    }
    title_ = file;
    for (const std::string_view line : linesOf(after_)) {
        diff_.push_back({LineChange::same, line, diff_.size() + 1});
        if (!compare && first_ == 0 && line.find(" fma(") != std::string_view::npos)
            first_ = diff_.size() - 1;
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
    if (compared_) {
        const auto count = [this](LineChange change) {
            return std::ranges::count(changes_, change, &DiffLine::change);
        };
        for (const LineChange change : {LineChange::added, LineChange::removed}) {
            const std::string lines =
                fmt::format("{}{}", change == LineChange::added ? "+" : "−", count(change));
            ImGui::SameLine(0, ui.px(10));
            ui.text(lines, colourOfChange(ui.theme, change), ui.fonts.strong);
        }
        if (hidden_ > 0 && !whole) {
            const SmallLetters small(ui);
            const std::string quiet =
                translatedFormat("{} lines that differ in comments or spacing alone are not marked", hidden_);
            ImGui::SameLine(0, ui.px(14));
            if (lettersWidth(quiet) > ImGui::GetContentRegionAvail().x) ImGui::NewLine();
            ui.muted(quiet);
        }
    }
    // What the rung is about, in the words of the ladder: what to look for below.
    ImGui::PushFont(ui.fonts.title);
    ui.text(fittedText(std::string(translated(wordsOf(rung).plain)), ImGui::GetContentRegionAvail().x));
    ImGui::PopFont();
    drawLines(ui, "ladder/source");
}

void SourceDiffView::drawLines(Ui& ui, const char* pane) {
    beginSourcePane(ui, pane, {0, 0});
    const float letter = ImGui::CalcTextSize("m").x;
    const float height = sourceRowHeight();
    const bool folds = compared_ && !whole;
    const std::vector<DiffLine>& lines = folds ? changes_ : diff_;
    const std::vector<DiffPart> parts =
        folds ? foldedParts(lines, contextLines) : std::vector<DiffPart>{{0, lines.size(), false}};
    if (scroll_ > 0) {
        const std::size_t first = compared_ ? tellingLine(lines) : first_;
        ImGui::SetScrollY(static_cast<float>(firstRowFor(parts, first)) * height);
        --scroll_;
    }
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float gutter = 6 * letter;
    for (const DiffPart& part : parts) {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float right = ImGui::GetWindowPos().x + ImGui::GetWindowWidth();
        if (part.folded) {
            const LineChange change = lines[part.begin].change;
            const std::size_t count = part.end - part.begin;
            const std::string words =
                change == LineChange::same    ? translatedFormat("… {} unchanged lines", count)
                : change == LineChange::added ? translatedFormat("… {} new lines of comments", count)
                                              : translatedFormat("… {} old lines of comments", count);
            const ImU32 colour =
                change == LineChange::same ? ui.theme.muted : colourOfChange(ui.theme, change);
            draw.AddRectFilled(at, {right, at.y + height}, faded(colour, 0.07f));
            draw.AddText({at.x + ImGui::GetScrollX() + gutter, at.y}, ui.theme.muted, words.c_str());
            ImGui::Dummy({gutter + lettersWidth(words), height});
            continue;
        }
        for (std::size_t i = part.begin; i < part.end; ++i) {
            const DiffLine& line = lines[i];
            const bool changed = line.change != LineChange::same;
            if (changed) {
                const ImVec2 row = ImGui::GetCursorScreenPos();
                draw.AddRectFilled(row, {right, row.y + height},
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
