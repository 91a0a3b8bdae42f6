#include "demos/exhibits/ladder/line_diff.h"

#include <algorithm>

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

} // namespace lockstep::demos
