#include "demos/exhibits/ladder/sweep.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "demos/exhibits/ladder/ladder_words.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

const char* nameOf(SweepBy by) { return by == SweepBy::batch ? "batch" : "width"; }

std::vector<SweepPoint> compared(const std::vector<SweepPoint>& points) {
    std::vector<SweepPoint> both;
    std::ranges::copy_if(points, std::back_inserter(both), &SweepPoint::compared);
    return both;
}

double ratio(const SweepPoint& point) { return std::log(point.gpuSamples / point.cpuSamples); }

std::string roundedSize(double value) { return grouped(static_cast<std::uint64_t>(std::llround(value))); }

} // namespace

std::vector<std::size_t> sweepValues(SweepBy by, std::size_t examples) {
    std::vector<std::size_t> values;
    if (by == SweepBy::width)
        for (std::size_t width = 16; width <= 1024; width *= 2) values.push_back(width);
    else
        for (std::size_t batch = 1; batch <= std::min<std::size_t>(examples, 4096); batch *= 4)
            values.push_back(batch);
    return values;
}

RunOptions settingsFor(RunOptions run, SweepBy by, std::size_t value) {
    if (by == SweepBy::batch)
        run.settings.batch = value;
    else
        run.hiddenWidths = std::vector<std::size_t>(run.hiddenWidths ? run.hiddenWidths->size() : 2, value);
    return run;
}

std::vector<Crossing> crossingsOf(const std::vector<SweepPoint>& points) {
    const std::vector<SweepPoint> both = compared(points);
    std::vector<Crossing> crossings;
    for (std::size_t i = 1; i < both.size(); ++i) {
        const double before = ratio(both[i - 1]);
        const double after = ratio(both[i]);
        if ((before < 0) == (after < 0)) continue;
        const double share = before / (before - after);
        const double from = std::log(static_cast<double>(both[i - 1].value));
        const double to = std::log(static_cast<double>(both[i].value));
        crossings.push_back({std::exp(from + share * (to - from)), after >= 0});
    }
    return crossings;
}

std::string crossingText(const std::vector<SweepPoint>& points, SweepBy by) {
    const std::vector<SweepPoint> both = compared(points);
    if (both.size() < 2) return {};
    const std::vector<Crossing> crossings = crossingsOf(points);
    const std::string gpu = both.back().gpu.software ? "gpu:best (software, not a GPU)" : "gpu:best";
    if (crossings.empty())
        return fmt::format("No crossing: {} is faster for every {} from {} to {}.",
                           ratio(both.front()) >= 0 ? gpu : "cpu:best", nameOf(by),
                           grouped(both.front().value), grouped(both.back().value));
    std::string text;
    for (const Crossing& crossing : crossings)
        text += fmt::format("{}From {} {} on, {} is faster.", text.empty() ? "" : " ", nameOf(by),
                            roundedSize(crossing.value), crossing.gpuFasterBeyond ? gpu : "cpu:best");
    return text;
}

std::string partsText(const std::vector<SweepPoint>& points) {
    const std::vector<SweepPoint> both = compared(points);
    if (both.size() < 2) return {};
    const auto computing = [](const SweepPoint& point) {
        return 100 * point.parts.execution / std::max(point.parts.sum(), 1e-12);
    };
    return fmt::format(
        "The device computes for {:.0f} % of the smallest step and {:.0f} % of the largest. The "
        "rest is the cost of launching work. The data were uploaded once, beforehand: {} in "
        "{}.",
        computing(both.front()), computing(both.back()),
        amountText(static_cast<double>(both.back().uploadBytes), "B"), duration(both.back().uploadOnce));
}

} // namespace lockstep::demos
