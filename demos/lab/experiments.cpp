#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "demos/lab/experiment.h"
#include "demos/report/headline.h"
#include "demos/words/language.h"
#include "demos/words/text.h"
#include "engine/cpu/cpu_info.h"
#include "engine/net/names.h"

namespace lockstep::demos {

// A file demos/lab/experiments/lost_updates.cpp defines lostUpdates; the build lists the files that there
// are (demos/CMakeLists.txt).
#define LOCKSTEP_EXPERIMENT(name) extern const Experiment name;
#include "lockstep_experiments.inc"
#undef LOCKSTEP_EXPERIMENT

std::span<const Experiment* const> experiments() {
    static const std::vector<const Experiment*> all = [] {
        std::vector<const Experiment*> found{
#define LOCKSTEP_EXPERIMENT(name) &(name),
#include "lockstep_experiments.inc"
#undef LOCKSTEP_EXPERIMENT
        };
        std::ranges::sort(found, {}, [](const Experiment* each) { return each->place; });
        return found;
    }();
    return all;
}

const Experiment& experimentFromName(std::string_view name) {
    std::vector<std::string_view> known;
    for (const Experiment* each : experiments()) {
        if (each->name == name) return *each;
        known.push_back(each->name);
    }
    throwUnknownName("experiment", name, known);
}

LabResult runExperiment(const Experiment& experiment, LabBench& bench) {
    LabResult result;
    result.rough = bench.rough();
    if (bench.measuresCpu()) {
        result.cpu.device = cpuName();
        result.cpu.threads = bench.threads();
    }
    if (const gpu::Device* device = bench.device()) {
        result.gpu.gpu = true;
        result.gpu.device = device->report().name;
        result.gpu.driver = device->report().driver;
        result.gpu.software = device->software();
    } else {
        result.noGpu = bench.noDevice();
    }
    const LoadWatch watch;
    experiment.measure(bench, result);
    result.load = watch.load();
    bench.addKnownNumbers(result);
    return result;
}

bool draws(const LabView& view, const Experiment& experiment, const LabResult& result,
           const LabSeries& series) {
    const auto told = [&](const LabSeries& each) {
        const std::string english = std::string(each.gpu ? "GPU " : "CPU ") + each.name;
        return !each.points.empty() && std::ranges::find(experiment.lines, english) != experiment.lines.end();
    };
    return view.all || told(series) || std::ranges::none_of(result.series, told);
}

std::string gpuFactor(double factor, std::initializer_list<const LabPoint*> compared) {
    const bool wide = std::ranges::any_of(compared, [](const LabPoint* point) {
        return point != nullptr && point->low > 0 && point->high > 2 * point->low;
    });
    return wide ? translatedFormat("GPU about {}×", twoDigits(factor))
                : translatedFormat("GPU {}×", twoDigits(factor));
}

LabVerdict ratioVerdict(double ratio, std::string figure, const LabRatioWords& words,
                        const std::string& rest) {
    const bool equal = ratio < equalBelow && ratio > 1 / equalBelow;
    const std::string_view before = translated(equal ? words.than : words.times);
    return {equal ? std::string(translated(words.equal)) : std::move(figure),
            before.empty() ? rest : fmt::format("{} {}", before, rest)};
}

const LabPoint* labPointAt(const LabResult& result, bool gpu, std::string_view series, double x) {
    const LabSeries* found = result.find(gpu, series);
    if (found == nullptr) return nullptr;
    const auto point = std::ranges::find(found->points, x, &LabPoint::x);
    return point == found->points.end() ? nullptr : &*point;
}

LabVerdict verdictOf(const Experiment& experiment, const LabResult& result) {
    if (!result.measured() || !experiment.answer(result)) return {};
    return experiment.verdict(result);
}

std::string verdictText(const Experiment& experiment, const LabResult& result,
                        std::optional<std::size_t> predicted) {
    if (!result.measured()) return {};
    const std::optional<std::size_t> answer = experiment.answer(result);
    if (!answer) {
        const MeasuredValues values = valuesOf(experiment, result);
        const auto busy = values.find("gpu_too_busy");
        return std::string(translated(busy != values.end() && busy->second.number == 1
                                          ? "Undecided here: the machine was too busy to tell."
                                          : "Undecided here: the explanation says why."));
    }
    const std::string_view measured = translated(experiment.choices[*answer]);
    if (!predicted) return translatedFormat("Measured here: {}.", measured);
    if (*predicted == *answer) return translatedFormat("✓ As you predicted: {}", measured);
    return translatedFormat("✗ You predicted: {}; measured: {}", translated(experiment.choices[*predicted]),
                            measured);
}

std::optional<SketchMiss> sketchMiss(const Experiment& experiment, const LabResult& result,
                                     const Sketch& sketch) {
    const LabSeries* series = result.find(true, experiment.sketched);
    if (sketch.empty() || series == nullptr || series->points.empty()) return std::nullopt;
    std::vector<double> x, y;
    for (const LabPoint& point : series->points) {
        x.push_back(point.x);
        y.push_back(point.median);
    }
    return missOf(sketch, x, y, experiment.x.log, experiment.y.log);
}

std::string sketchText(const Experiment& experiment, const LabResult& result, const Sketch& sketch) {
    const LabSeries* series = result.find(true, experiment.sketched);
    if (sketch.empty() || series == nullptr || series->points.empty()) return {};
    return missText(sketchMiss(experiment, result, sketch), experiment.sketched, experiment.x.title);
}

} // namespace lockstep::demos
