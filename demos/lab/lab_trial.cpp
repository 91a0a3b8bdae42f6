#include "demos/lab/lab_trial.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "demos/words/median.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

bool isSource(const Experiment& experiment, std::string_view file) {
    return !file.empty() && std::ranges::find(experiment.sources, file) != experiment.sources.end();
}

/// Shaders of experiments and of training steps: an experiment checks the results of both, where it runs
/// them.
std::vector<std::string> checkedShaders() {
    std::vector<std::string> shaders = stepShaders();
    std::ranges::move(labShaders(), std::back_inserter(shaders));
    return shaders;
}

/// Those that the texts change and the experiment may run: it shows them, or a part of theirs that is GLSL.
std::vector<std::string> shadersOf(const Experiment& experiment, const ShaderTexts& texts) {
    std::vector<std::string> shaders = changedShaders(texts, checkedShaders());
    std::erase_if(shaders, [&](const std::string& shader) {
        const std::vector<std::string> files = withIncludes(texts, shader + ".comp");
        return std::ranges::none_of(files, [&](const std::string& file) {
            return !file.ends_with(".h") && isSource(experiment, file);
        });
    });
    return shaders;
}

/// What went wrong with a kernel: the note of a series on the GPU that ends too early. A series may end
/// because it would take too long, or for a reason that the built-in kernels have, too.
std::string failureIn(const LabResult& edited, const LabResult& builtIn) {
    for (const LabSeries& series : edited.series) {
        if (!series.gpu || series.note.empty() || series.note.starts_with(tooLongNote)) continue;
        const LabSeries* other = builtIn.find(true, series.name);
        if (other == nullptr || other->note != series.note)
            return fmt::format("{}: {}", series.fullName(), series.note);
    }
    return {};
}

/// A setting at which a series was measured with edited and with built-in kernels.
struct Compared {
    double faster; ///< times as fast as built in; where the axis has no unit, times as large
    bool differs;  ///< by more than noise
};

/// The points of a GPU series beside those of built-in kernels, in their order; empty for other series.
std::vector<Compared> comparedPoints(const Experiment& experiment, const LabSeries& series,
                                     const LabResult& builtIn) {
    const std::string_view unit = experiment.y.unit;
    // Without a unit it is relative to another series: neither faster nor slower.
    const bool rate = unit.empty() || unit.ends_with("/s") || unit.starts_with("per ");
    std::vector<Compared> points;
    const LabSeries* other = series.gpu ? builtIn.find(true, series.name) : nullptr;
    if (other == nullptr) return points;
    for (const LabPoint& point : series.points) {
        const auto at = std::ranges::find(other->points, point.x, &LabPoint::x);
        if (at == other->points.end() || !(point.median > 0) || !(at->median > 0)) continue;
        points.push_back({rate ? point.median / at->median : at->median / point.median, apart(point, *at)});
    }
    return points;
}

/// A trial's way to its outcome. Errors leave it as exceptions.
struct LabTrial {
    const LabTrialRequest& request;
    TrialWatch& watch;
    LabTrialOutcome& outcome;
    std::unique_ptr<gpu::Device> device = {};
    ReplacedShaders edited = {}, builtIn = {};

    void run() {
        outcome.shaders = shadersOf(*request.experiment, request.texts);
        edited = compileForTrial(request.texts, outcome.shaders, watch, outcome.report);
        if (!outcome.report.errors.empty()) return;
        builtIn = compileForTrial({}, outcome.shaders, watch, outcome.report);
        if (!request.noDevice.empty()) throw std::runtime_error(request.noDevice);
        watch.enter(TrialPhase::checking);
        device = openForTrial(request.device);
        if (!measure(true, request.rough ? request.known : LabResult())) return;
        if (!request.rough) {
            watch.enter(TrialPhase::timing);
            if (!measure(false, request.known)) return;
        }
        outcome.report.timing = labComparison(*request.experiment, outcome.edited, outcome.builtIn);
        outcome.report.verdict = Verdict::passed;
    }

    /// False where the kernels are not used. Throws where a result of theirs is wrong.
    bool measure(bool rough, const LabResult& known) {
        const LabTrialOutcome* before = request.before.get();
        const bool kept =
            before != nullptr && before->shaders == outcome.shaders && before->builtIn.rough == rough;
        outcome.builtIn = kept ? before->builtIn : measured(builtIn, rough, known);
        outcome.edited = measured(edited, rough, outcome.builtIn);
        const std::string failure = failureIn(outcome.edited, outcome.builtIn);
        if (!failure.empty()) throw std::runtime_error(failure);
        if (used) return true;
        std::string names;
        for (const std::string& shader : outcome.shaders) names += (names.empty() ? "" : ", ") + shader;
        outcome.report.verdict = Verdict::notUsed;
        outcome.report.message = translatedFormat("on this device, the experiment runs without {}", names);
        return false;
    }

    LabResult measured(const ReplacedShaders& shaders, bool rough, const LabResult& known) {
        LabBench bench(request.threads, {device.get()}, rough, request.progress, watch.cancelled);
        bench.kernels().replace(shaders);
        bench.know(known);
        LabResult result = runExperiment(*request.experiment, bench);
        watch.enter(watch.phase); // one that was stopped has measured nothing
        used = std::ranges::any_of(outcome.shaders,
                                   [&](const std::string& shader) { return bench.kernels().made(shader); });
        return result;
    }

    bool used = false; // by the last measured()
};

} // namespace

bool isEditable(const Experiment& experiment, std::string_view file) {
    static const std::set<std::string, std::less<>> checked = [] {
        std::set<std::string, std::less<>> files;
        for (const std::string& shader : checkedShaders())
            for (std::string& each : withIncludes({}, shader + ".comp")) files.insert(std::move(each));
        return files;
    }();
    return isSource(experiment, file) && checked.contains(file);
}

LabTrialOutcome tryLabKernels(const LabTrialRequest& request, TrialWatch& watch) {
    LabTrialOutcome outcome{.report = {}, .texts = request.texts};
    runTrial(outcome.report, [&] { LabTrial{request, watch, outcome}.run(); });
    return outcome;
}

std::optional<double> labSpeedUp(const Experiment& experiment, const LabResult& edited,
                                 const LabResult& builtIn) {
    std::optional<double> most;
    for (const LabSeries& series : edited.series) {
        const std::vector<Compared> points = comparedPoints(experiment, series, builtIn);
        if (points.empty()) continue;
        const double ratio = points.back().differs ? points.back().faster : 1;
        if (!most || std::abs(std::log(ratio)) > std::abs(std::log(*most))) most = ratio;
    }
    return most;
}

std::string labComparison(const Experiment& experiment, const LabResult& edited, const LabResult& builtIn) {
    constexpr double aboutAsFast = 0.05;
    const bool relative = experiment.y.unit.empty();
    struct Ratio {
        const LabSeries* series;
        double faster; // times; where relative: larger
    };
    std::vector<Ratio> ratios;
    for (const LabSeries& series : edited.series) {
        std::vector<Compared> points = comparedPoints(experiment, series, builtIn);
        if (points.empty()) continue;
        const auto differ = static_cast<std::size_t>(std::ranges::count(points, true, &Compared::differs));
        std::vector<double> faster(points.size());
        std::ranges::transform(points, faster.begin(), &Compared::faster);
        const bool noise = 2 * differ <= points.size();
        ratios.push_back({&series, noise ? 1 : median(std::move(faster))});
    }
    if (ratios.empty()) return {};
    const auto change = [](const Ratio& ratio) { return std::abs(std::log(ratio.faster)); };
    std::ranges::stable_sort(ratios, std::greater<>(), change);
    if (change(ratios.front()) < aboutAsFast)
        return std::string(translated(relative ? "about the same as built in" : "about as fast as built in"));
    constexpr std::size_t most = 2;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, ratios.size()); ++i) {
        if (change(ratios[i]) < aboutAsFast) continue;
        text.append(text.empty() ? "" : ", ");
        text += relative ? translatedFormat("{} {} times the built-in value", ratios[i].series->fullName(),
                                            threeDigits(ratios[i].faster))
                         : translatedFormat("{} {} times as fast as built in", ratios[i].series->fullName(),
                                            threeDigits(ratios[i].faster));
    }
    return text;
}

} // namespace lockstep::demos
