#include "demos/kit/workgroup_chart.h"

#include <algorithm>
#include <numeric>

namespace lockstep::demos {

std::vector<GroupTimes> groupTimes(std::span<const std::uint32_t> words) {
    std::vector<GroupTimes> times;
    const std::size_t groups = words.size() / 4;
    if (groups == 0) return times;
    const auto ticks = [&](std::size_t at) { return std::uint64_t{words[at + 1]} << 32 | words[at]; };
    std::uint64_t first = ticks(0);
    for (std::size_t w = 1; w < groups; ++w) first = std::min(first, ticks(4 * w));
    times.reserve(groups);
    for (std::size_t w = 0; w < groups; ++w)
        times.push_back({static_cast<double>(ticks(4 * w) - first),
                         static_cast<double>(std::max(ticks(4 * w), ticks(4 * w + 2)) - first)});
    return times;
}

std::vector<GroupSpan> inRows(std::span<const GroupTimes> times) {
    std::vector<std::uint32_t> order(times.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::sort(order, {}, [&](std::uint32_t i) { return times[i].begin; });
    std::vector<GroupSpan> spans;
    spans.reserve(times.size());
    std::vector<double> free; // by row: from when on
    for (const std::uint32_t item : order) {
        const double begin = times[item].begin; // no structured binding: clang 14 captures none
        const double end = times[item].end;
        // Clocks of different processors differ a little.
        const double grace = 0.02 * (end - begin);
        auto row = std::ranges::find_if(free, [&](double from) { return from <= begin + grace; });
        if (row == free.end()) row = free.insert(free.end(), 0);
        *row = end;
        spans.push_back({static_cast<std::uint32_t>(row - free.begin()), begin, end, item});
    }
    return spans;
}

std::uint32_t rowsOf(std::span<const GroupSpan> spans) {
    std::uint32_t rows = 0;
    for (const GroupSpan& span : spans) rows = std::max(rows, span.row + 1);
    return rows;
}

double lastEnd(std::span<const GroupSpan> spans) {
    return spans.empty() ? 0 : std::ranges::max_element(spans, {}, &GroupSpan::end)->end;
}

double busyShare(std::span<const GroupSpan> spans) {
    double busy = 0;
    for (const GroupSpan& span : spans) busy += span.end - span.begin;
    const double all = lastEnd(spans) * rowsOf(spans);
    return all > 0 ? busy / all : 0;
}

void drawWorkgroups(const Ui& ui, std::span<const GroupSpan> spans, ImU32 colour, const std::string& title,
                    Place place, double shown) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const SmallLetters small(ui);
    const float letters = ImGui::GetTextLineHeight();
    draw.AddText(place.min, legible(ui.theme, colour), fittedText(title, place.max.x - place.min.x).c_str());
    place.min.y += letters + ui.px(3);
    draw.AddRectFilled(place.min, place.max, ui.theme.raised);
    const std::uint32_t rows = rowsOf(spans);
    const double end = lastEnd(spans);
    if (spans.empty() || end <= 0) return;
    const float row = (place.max.y - place.min.y) / static_cast<float>(rows);
    const float gap = row > ui.px(6) ? ui.px(1) : 0;
    const auto x = [&](double time) {
        return place.min.x + static_cast<float>(time / end) * (place.max.x - place.min.x);
    };
    std::vector<int> wave(rows); // of the row's next group: neighbours differ in brightness
    for (const GroupSpan& span : spans) {
        const ImU32 shade = mixed(colour, ui.theme.background, wave[span.row]++ % 2 == 0 ? 0.1f : 0.4f);
        if (span.begin > shown * end) continue;
        const ImVec2 from{x(span.begin), place.min.y + static_cast<float>(span.row) * row + gap};
        const ImVec2 to{x(std::min(span.end, shown * end)), from.y + std::max(row - gap, 0.5f)};
        draw.AddRectFilled(from, to, shade);
        const std::string number = std::to_string(span.item);
        if (row > letters + ui.px(2) && to.x - from.x > textWidth(number) + ui.px(8))
            draw.AddText({from.x + ui.px(4), (from.y + to.y - letters) / 2},
                         contrast(ui.theme.text, shade) > contrast(ui.theme.background, shade)
                             ? ui.theme.text
                             : ui.theme.background,
                         number.c_str());
    }
    draw.AddLine({x(shown * end), place.min.y}, {x(shown * end), place.max.y}, ui.theme.text, ui.line());
}

} // namespace lockstep::demos
