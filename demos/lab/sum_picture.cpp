#include "demos/lab/sum_picture.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "demos/lab/lab_cells.h"
#include "demos/words/text.h"

namespace lockstep::demos {

std::string sumNumberName(bool gpu, std::string_view series, std::string_view what) {
    std::string name = fmt::format("{}_{}_{}", gpu ? "gpu" : "cpu", series, what);
    std::erase(name, ',');
    std::ranges::replace(name, ' ', '_');
    return name;
}

void drawSumOrders(const Ui& ui, ImVec2 at, ImVec2 size, double seconds, bool still) {
    constexpr int numbers = 16;
    constexpr int levels = 4;
    const SmallLetters small(ui);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const auto textOf = [](float total) {
        const auto excess = static_cast<int>(total - 0x1p24f);
        return total < 0x1p24f ? fmt::format("{:.0f}", total)
               : excess == 0   ? std::string("2²⁴")
                               : fmt::format("2²⁴ + {}", excess);
    };
    const float letters = ImGui::GetFontSize();
    const float height = letters + ui.px(6);
    const float unit = size.x / numbers;
    const float texts = 2 * letters + ui.px(8);
    const float top = at.y + texts;
    const float loop = at.y + size.y - height;
    const float step = std::min((loop - top - height - ui.px(14)) / levels, 4 * height);
    const int done = still ? 0 : static_cast<int>(std::fmod(2 * seconds, numbers + 4.0)); // additions
    const auto cell = [&](float x, float y, float room, float total, bool there, bool now) {
        const std::string text = there ? textOf(total) : "";
        const float half = std::min(std::max(0.46f * unit, 0.55f * textWidth(text)), 0.48f * room);
        labCell(ui, draw, {x - half, y}, {x + half, y + height}, now ? ui.theme.accent : ui.theme.muted,
                there, text);
    };
    std::vector<float> sums(numbers, 1.0f);
    sums[0] = 0x1p24f;
    float running = 0;
    for (int i = 0; i < numbers; ++i) {
        running += sums[static_cast<std::size_t>(i)];
        cell(at.x + (static_cast<float>(i) + 0.5f) * unit, loop, unit, running, i <= done && !still,
             i == done);
    }
    for (int level = 0; level <= levels; ++level) {
        const float width = unit * static_cast<float>(1 << level);
        const float y = top + static_cast<float>(level) * step;
        const bool there = level <= done;
        for (std::size_t i = 0; i < sums.size(); ++i) {
            const float x = at.x + (static_cast<float>(i) + 0.5f) * width;
            if (level > 0)
                for (const float side : {-0.25f, 0.25f})
                    draw.AddLine({x + side * width, y - step + height}, {x, y},
                                 there ? ui.theme.text : ui.theme.muted, ui.line(1.5f));
            cell(x, y, width, sums[i], there, level == done);
        }
        if (level == levels) break;
        for (std::size_t i = 0; i < sums.size() / 2; ++i) sums[i] = sums[2 * i] + sums[2 * i + 1];
        sums.resize(sums.size() / 2);
    }
    if (still) {
        labText(draw, at, "above: a tree; below: a loop", ui.theme.text);
        labText(draw, {at.x, at.y + letters}, "16 numbers: 2²⁴ and fifteen ones", ui.theme.muted);
        return;
    }
    const auto steps = [&](int all) {
        return counted(static_cast<std::uint64_t>(std::min(done, all)), "step");
    };
    labText(draw, at,
            translatedFormat("tree: {}{}; loop: {}{}", steps(levels),
                             done < levels ? "" : ", " + textOf(sums.front()), steps(numbers - 1),
                             done < numbers - 1 ? "" : ", " + textOf(running)),
            ui.theme.text);
    labText(draw, {at.x, at.y + letters}, "exact: 2²⁴ + 15; 2²⁴ + 1 rounds to 2²⁴", ui.theme.muted);
}

void drawSumTable(const Ui& ui, const LabResult& result, ImVec2 at, ImVec2 size) {
    const SmallLetters small(ui);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const double exact = result.number("exact_sum");
    const std::string right = fixed(exact, 4);
    const float columns[] = {0, 0.47f * size.x, 0.67f * size.x, 0.86f * size.x, size.x}; // right ends
    const float rows = static_cast<float>(result.series.size() + 2);
    const float row = std::min(size.y / rows, 1.8f * ImGui::GetFontSize());
    ImGui::SetWindowFontScale(std::min(row / (0.9f * ImGui::GetFontSize()), 1.0f));
    float y = at.y;
    const auto cell = [&](int column, const std::string& text, ImU32 colour) {
        labText(draw, {at.x + columns[column], y}, text, colour, 1);
    };
    cell(1, "sum", ui.theme.muted);
    cell(2, "largest error, ulp", ui.theme.muted);
    cell(3, "distinct results", ui.theme.muted);
    cell(4, "time", ui.theme.muted);
    y += row;
    labText(draw, {at.x, y}, "exact, in integers", ui.theme.text);
    cell(1, ui.timing(right), ui.theme.text);
    for (const LabSeries& series : result.series) {
        const auto number = [&](const char* what) {
            return result.number(sumNumberName(series.gpu, series.name, what));
        };
        if (!result.has(sumNumberName(series.gpu, series.name, "sum"))) continue;
        y += row;
        labText(draw, {at.x, y}, series.fullName(),
                legible(ui.theme, series.gpu ? ui.theme.gpu : ui.theme.cpu));
        if (ui.masked) {
            for (int column = 1; column <= 4; ++column) cell(column, "-", ui.theme.muted);
            continue;
        }
        const std::string total = fixed(number("sum"), 4);
        const auto same =
            number("error_units") > 0.5 // else rounded to the nearest float
                ? static_cast<std::size_t>(std::ranges::mismatch(total, right).in1 - total.begin())
                : total.size();
        const float begin = at.x + columns[1] - textWidth(total);
        const float wrong = begin + textWidth(total.substr(0, same));
        labText(draw, {begin, y}, total.substr(0, same), ui.theme.text);
        labText(draw, {wrong, y}, total.substr(same), ui.theme.warning);
        const float line = y + std::min(ImGui::GetFontSize(), row);
        draw.AddLine({wrong, line}, {at.x + columns[1], line}, ui.theme.warning, ui.line());
        cell(2, threeDigits(number("error_units")), ui.theme.text);
        cell(3,
             fmt::format("{:.0f} ({})", number("results"),
                         counted(static_cast<std::uint64_t>(std::fmax(number("runs"), 0)), "run")),
             number("results") > 1 ? ui.theme.warning : ui.theme.text);
        cell(4, duration(1e-6 * number("microseconds")), ui.theme.text);
    }
    ImGui::SetWindowFontScale(1);
}

} // namespace lockstep::demos
