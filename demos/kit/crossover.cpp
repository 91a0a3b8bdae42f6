#include "demos/kit/crossover.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

double ratio(const SweepPoint& point) { return std::log(point.gpuSamples / point.cpuSamples); }

std::string roundedSize(double value) { return grouped(static_cast<std::uint64_t>(std::llround(value))); }

} // namespace

std::vector<SweepPoint> compared(const std::vector<SweepPoint>& points) {
    std::vector<SweepPoint> both;
    std::ranges::copy_if(points, std::back_inserter(both), &SweepPoint::compared);
    return both;
}

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

SweepPoint measurePoint(std::size_t value, const TrainJob& job, const Lane::MakeTrainer& makeCpu,
                        const Lane::MakeTrainer& makeGpu, gpu::Device& device, double seconds,
                        const std::atomic<bool>& cancelled) {
    constexpr int stepsByThemselves = 20;
    constexpr double tolerance = Agreement::floatTolerance;
    SweepPoint point;
    point.value = value;
    point.failure = failureOf([&] {
        const LaneMeasure cpu = measureLane(*makeCpu(), job, {}, tolerance, seconds, &cancelled);
        point.cpu = cpu.machine;
        point.cpuSamples = cpu.samplesPerSecond;
        const std::uint64_t bytes = device.counters().bytesUploaded;
        const std::uint64_t uploading = device.counters().uploadNanoseconds;
        const auto trainer = makeGpu(&cancelled);
        point.uploadBytes = device.counters().bytesUploaded - bytes;
        point.uploadOnce = static_cast<double>(device.counters().uploadNanoseconds - uploading) * 1e-9;
        const LaneMeasure gpu = measureLane(*trainer, job, cpu.losses, tolerance, seconds, &cancelled);
        point.gpu = gpu.machine;
        if (!gpu.right()) { // one of them is wrong, and there is no telling which
            point.cpuSamples = 0;
            throw std::runtime_error("the losses of the two lanes differ, so neither is timed");
        }
        point.gpuSamples = gpu.samplesPerSecond;
        if (!cancelled) point.parts = measureStepParts(*trainer, device, stepsByThemselves);
    });
    return point;
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
        const double rate =
            std::log(both[i - 1].cpuSamples) + share * std::log(both[i].cpuSamples / both[i - 1].cpuSamples);
        crossings.push_back({std::exp(from + share * (to - from)), std::exp(rate), after >= 0});
    }
    return crossings;
}

std::string crossingText(const std::vector<SweepPoint>& points, SweepBy by) {
    const std::vector<SweepPoint> both = compared(points);
    if (both.size() < 2) return {};
    const std::vector<Crossing> crossings = crossingsOf(points);
    const std::string gpu(both.back().gpu.software ? translated("gpu:best (software, not a GPU)")
                                                   : "gpu:best");
    const std::string_view what = translated(nameOf(by));
    if (crossings.empty())
        return translatedFormat("No crossing: {} is faster for every {} from {} to {}.",
                                ratio(both.front()) >= 0 ? gpu : "cpu:best", what,
                                grouped(both.front().value), grouped(both.back().value));
    std::string text;
    for (const Crossing& crossing : crossings)
        text.append(text.empty() ? "" : " ")
            .append(translatedFormat("From {} {} on, {} is faster.", what, roundedSize(crossing.value),
                                     crossing.gpuFasterBeyond ? gpu : "cpu:best"));
    return text;
}

} // namespace lockstep::demos
