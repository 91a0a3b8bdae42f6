#include "demos/lesson/machine_plot.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "demos/words/html.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t mostMachines = 60; // a page holds no more
constexpr std::size_t longestMachineName = 46;
constexpr double machineHeight = 20, plotTop = 6;
constexpr double plotLeft = 340, plotRight = 640, plotWidth = 740;
constexpr double logarithmicFrom = 30; // of the largest to the least number

struct MachineRow {
    std::string machine;
    std::vector<double> numbers; // ascending

    double median() const {
        const std::size_t half = numbers.size() / 2;
        return numbers.size() % 2 == 1 ? numbers[half] : (numbers[half - 1] + numbers[half]) / 2;
    }
};

std::vector<MachineRow> machineRows(std::span<const MachineNumber> numbers) {
    std::map<std::string, MachineRow> byMachine;
    for (const MachineNumber& each : numbers) {
        MachineRow& row = byMachine[each.machine];
        row.machine = each.machine;
        row.numbers.push_back(each.number);
    }
    std::vector<MachineRow> rows;
    for (auto& entry : byMachine) {
        std::ranges::sort(entry.second.numbers);
        rows.push_back(std::move(entry.second));
    }
    std::ranges::stable_sort(rows, {}, &MachineRow::median);
    return rows;
}

/// Where numbers stand between the plot's edges.
class Axis {
  public:
    Axis(double least, double most) : logarithmic_(least > 0 && most > logarithmicFrom * least) {
        from_ = logarithmic_ ? std::log(least) : std::min(least, 0.0);
        to_ = logarithmic_ ? std::log(most) : std::max(most, 0.0);
    }
    double x(double number) const {
        const double at = logarithmic_ ? std::log(number) : number;
        const double share = to_ > from_ ? (at - from_) / (to_ - from_) : 0.5;
        return plotLeft + (plotRight - plotLeft) * share;
    }
    double number(double share) const {
        const double at = from_ + share * (to_ - from_);
        return logarithmic_ ? std::exp(at) : at;
    }
    bool logarithmic() const { return logarithmic_; }

  private:
    bool logarithmic_;
    double from_;
    double to_;
};

} // namespace

std::string machinePlotSvg(std::span<const MachineNumber> numbers,
                           const std::function<std::string(double)>& shown) {
    const std::vector<MachineRow> all = machineRows(numbers);
    if (all.empty()) return {};
    const std::span<const MachineRow> rows = std::span(all).first(std::min(all.size(), mostMachines));
    const auto [least, most] = std::ranges::minmax(numbers, {}, &MachineNumber::number);
    const Axis axis(least.number, most.number);
    const double bottom = plotTop + machineHeight * static_cast<double>(rows.size());
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
        "style=\"max-width:100%\" font-family=\"sans-serif\" font-size=\"12\">\n",
        plotWidth, bottom + 24);
    double y = plotTop + machineHeight / 2;
    for (const MachineRow& row : rows) {
        const std::string count = row.numbers.size() > 1 ? fmt::format(" ({})", row.numbers.size()) : "";
        svg += fmt::format("<text x=\"0\" y=\"{:.0f}\">{}{}</text>"
                           "<line x1=\"{}\" y1=\"{:.0f}\" x2=\"{}\" y2=\"{:.0f}\" stroke=\"#ddd\"/>",
                           y + 4, htmlText(cut(row.machine, longestMachineName)), count, plotLeft, y,
                           plotRight, y);
        double last = -1;
        for (const double number : row.numbers) {
            const double x = axis.x(number);
            if (x - last < 0.5 && last >= 0) continue; // on plotTop of each other
            last = x;
            svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.0f}\" r=\"4\" fill=\"#0072B2\" "
                               "fill-opacity=\"0.6\"/>",
                               x, y);
        }
        svg += fmt::format("<text x=\"{}\" y=\"{:.0f}\">{}</text>\n", plotRight + 10, y + 4,
                           htmlText(shown(row.median())));
        y += machineHeight;
    }
    svg += fmt::format("<line x1=\"{0}\" y1=\"{2}\" x2=\"{1}\" y2=\"{2}\" stroke=\"#555\"/>\n", plotLeft,
                       plotRight, bottom);
    for (const auto& [share, anchor] : {std::pair(0.0, "start"), std::pair(1.0, "end")})
        svg += fmt::format("<text x=\"{}\" y=\"{:.0f}\" text-anchor=\"{}\">{}</text>\n",
                           plotLeft + share * (plotRight - plotLeft), bottom + 16, anchor,
                           htmlText(shown(axis.number(share))));
    svg += "</svg>\n";
    if (axis.logarithmic()) svg += "<p><small>The axis is logarithmic.</small></p>\n";
    if (all.size() > rows.size())
        svg += fmt::format("<p><small>{} more machines with larger numbers are left out.</small></p>\n",
                           all.size() - rows.size());
    return svg;
}

} // namespace lockstep::demos
