#include "demos/report/headline.h"

#include <algorithm>

#include <fmt/format.h>

#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

/// 0 where there is nothing to divide by.
double quotient(double of, double by) { return by > 0 ? of / by : 0; }

bool reached(const LaneResult& result, const FinishLine& finish) {
    if (!result.evaluation) return false;
    return (finish.accuracy > 0 && result.evaluation->accuracy >= finish.accuracy) ||
           (finish.loss > 0 && result.evaluation->loss <= finish.loss);
}

std::string sentence(const std::vector<LaneResult>& results, const std::vector<LaneFigures>& figures,
                     const Headline& headline, const FinishLine& finish, bool together) {
    const LaneResult& faster = results[headline.faster];
    const LaneResult& slower = results[headline.slower];
    const LaneFigures& one = figures[headline.faster];
    const LaneFigures& other = figures[headline.slower];
    const std::string evidence =
        headline.bySeconds
            ? translatedFormat("{} s of training against {} s", threeDigits(one.seconds),
                               threeDigits(other.seconds))
            : translatedFormat("{} samples/s against {}", shortRate(one.rate), shortRate(other.rate));
    FinishLine goal; // without the limit for runs that never reach it
    goal.accuracy = finish.accuracy;
    goal.loss = finish.loss;
    const std::string task = headline.bySeconds ? translatedFormat("reached {}", finishText(goal))
                                                : std::string(translated("trained"));
    const std::string_view how =
        translated(together ? "head to head: the lanes competed for the machine, so this is not a measurement"
                            : "time trial, end to end, without warm-up");
    return comparison(fullName(faster.spec, faster.machine), fullName(slower.spec, slower.machine),
                      headline.ratio, task, fmt::format("{} ({})", evidence, how));
}

/// What took too little time to be compared; empty if both lanes were timed for long enough.
std::string tooShort(const std::vector<LaneResult>& results, const std::vector<LaneFigures>& figures,
                     const Headline& headline, double shortest) {
    for (const std::size_t lane : {headline.faster, headline.slower})
        if (figures[lane].timedSeconds < shortest)
            return translatedFormat(
                "no comparison: the race is too short: {} trained for {} only; choose a later "
                "finish line, after a second or more",
                results[lane].spec.text(), duration(figures[lane].timedSeconds));
    return {};
}

std::string winner(const std::vector<LaneResult>& results, const Headline& headline) {
    if (headline.ratio < equalBelow) return std::string(translated("Equally fast"));
    const LaneSpec& faster = results[headline.faster].spec;
    const LaneSpec& slower = results[headline.slower].spec;
    const bool machines = faster.gpu != slower.gpu;
    const bool software =
        results[headline.faster].machine.software || results[headline.slower].machine.software;
    // Two digits are enough to be remembered; near 1, two would hide half of the difference.
    const std::string ratio = headline.ratio < 2 ? threeDigits(headline.ratio) : twoDigits(headline.ratio);
    if (!machines) return translatedFormat("{} {}× faster", faster.text(), ratio);
    // Words that are passed on alone: what stands in for a GPU is not one.
    if (software && faster.gpu) return translatedFormat("Software Vulkan {}× faster than the CPU", ratio);
    if (software) return translatedFormat("CPU {}× faster than software Vulkan", ratio);
    return translatedFormat("{} {}× faster", faster.gpu ? "GPU" : "CPU", ratio);
}

/// What the result must not be passed on without: ", GPU throttled".
std::string throttledText(const LaneResult& faster, const LaneResult& slower) {
    const bool machines = faster.spec.gpu != slower.spec.gpu;
    const auto who = [machines](const LaneResult& lane) {
        if (!machines) return lane.spec.text();
        return std::string(translated(!lane.spec.gpu          ? "CPU"
                                      : lane.machine.software ? "software Vulkan"
                                                              : "GPU"));
    };
    const bool first = faster.machine.throttled(), second = slower.machine.throttled();
    if (first && second) return std::string(translated(", both throttled"));
    return first || second ? translatedFormat(", {} throttled", who(first ? faster : slower)) : "";
}

} // namespace

LaneFigures figuresOf(const LaneResult& result) {
    const LaneSnapshot& end = result.end;
    const auto steps = static_cast<double>(end.runSteps);
    const double examplesPerStep = quotient(static_cast<double>(end.examples), steps);
    LaneFigures figures{.steps = steps,
                        .seconds = end.trainingSeconds,
                        .timedSeconds = end.timedSeconds(),
                        .deviceSeconds = end.deviceSeconds,
                        .warmUpSeconds = end.warmUpSeconds,
                        .evaluationSeconds = end.evaluationSeconds,
                        .rate = end.rate(),
                        .secondsPerStep = quotient(examplesPerStep, end.rate()),
                        .deviceSecondsPerStep = quotient(examplesPerStep, end.rate()) *
                                                quotient(end.deviceSeconds, end.trainingSeconds),
                        .gflops = result.gflops,
                        .watts = end.watts};
    if (!result.evaluation) return figures;
    figures.testLoss = result.evaluation->loss;
    figures.testAccuracy = result.evaluation->accuracy;
    return figures;
}

std::vector<LaneFigures> figuresOf(const std::vector<LaneResult>& results) {
    std::vector<LaneFigures> figures;
    figures.reserve(results.size());
    for (const LaneResult& result : results) figures.push_back(figuresOf(result));
    return figures;
}

std::string comparison(const std::string& faster, const std::string& slower, double ratio,
                       const std::string& task, const std::string& evidence) {
    if (ratio < equalBelow)
        return translatedFormat("{} and {} {} equally fast, within 5 %: {}.", faster, slower, task, evidence);
    return translatedFormat("{} {} {} times as fast as {}: {}.", faster, task, threeDigits(ratio), slower,
                            evidence);
}

Headline headlineFor(const std::vector<LaneResult>& results, const std::vector<LaneFigures>& figures,
                     const FinishLine& finish, bool together, double shortest) {
    Headline headline;
    headline.bySeconds = finish.needsEvaluation();
    for (std::size_t lane = 0; lane < results.size(); ++lane)
        if (results[lane].counts())
            headline.bySeconds =
                headline.bySeconds && reached(results[lane], finish) && figures[lane].seconds >= shortest;
    const auto pairing = pairUp(results, [&](std::size_t lane) {
        if (!results[lane].counts() || figures[lane].seconds <= 0) return 0.0;
        return headline.bySeconds ? 1 / figures[lane].seconds : figures[lane].rate;
    });
    if (!pairing) {
        headline.text = whyNone(results, "no comparison: fewer than two lanes reached the finish line");
        return headline;
    }
    static_cast<Pairing&>(headline) = *pairing;
    headline.valid = tooShort(results, figures, headline, shortest).empty();
    const auto told = [&] {
        return headline.valid ? sentence(results, figures, headline, finish, together)
                              : tooShort(results, figures, headline, shortest);
    };
    headline.shown = told();
    const EnglishHere english;
    headline.text = told();
    return headline;
}

std::string verdict(const std::vector<LaneResult>& results, const Headline& headline) {
    if (!headline.valid) return std::string(translated("No comparison"));
    return winner(results, headline) + throttledText(results[headline.faster], results[headline.slower]);
}

std::string reasonOf(const Headline& headline) {
    constexpr std::string_view said = "no comparison: ";
    const std::string_view text = headline.text;
    return std::string(!headline.valid && text.starts_with(said) ? text.substr(said.size()) : text);
}

std::string shownReason(const Headline& headline) {
    const std::string text(headline.shown.empty() ? translated(headline.text) : headline.shown);
    const std::string_view said = translated("no comparison: ");
    return text.substr(!headline.valid && text.starts_with(said) ? said.size() : 0);
}

std::string finishText(const FinishLine& finish) {
    std::string all;
    const auto add = [&all](const std::string& line) {
        all.append(all.empty() ? "" : translated(" or ")).append(line);
    };
    if (finish.accuracy > 0) add(translatedFormat("{:.6g} % test accuracy", finish.accuracy * 100));
    if (finish.loss > 0) add(translatedFormat("a test loss of {:.6g}", finish.loss));
    if (finish.epochs > 0) add(counted(finish.epochs, "epoch"));
    if (finish.steps > 0) add(counted(finish.steps, "step"));
    if (finish.seconds == 1) add(std::string(translated("1 second")));
    if (finish.seconds > 0 && finish.seconds != 1) add(translatedFormat("{:.6g} seconds", finish.seconds));
    return all;
}

std::string agreementText(const std::vector<LaneResult>& results) {
    std::string faults;
    double largest = 0;
    std::uint64_t steps = Telemetry::openingSteps;
    std::uint64_t agreed = Telemetry::openingSteps;
    double tolerance = 0;
    std::size_t compared = 0;
    for (const LaneResult& result : results) {
        const Agreement& agreement = result.agreement;
        if (agreement.steps == 0) continue;
        ++compared;
        steps = std::min(steps, agreement.steps);
        agreed = std::min(agreed, agreement.agreedSteps);
        largest = std::max(largest, agreement.largestDifference);
        tolerance = std::max(tolerance, agreement.tolerance);
        if (!agreement.same())
            faults += translatedFormat(
                "different mathematics: the losses of {} leave the others' after {} and differ "
                "by up to {:.1g} (tolerance: {:.0g} over the first {}), so its speed is not compared\n",
                result.spec.text(), counted(agreement.agreedSteps, "step"), agreement.largestDifference,
                agreement.tolerance, Agreement::decisiveSteps);
    }
    if (compared < 2) return {};
    if (!faults.empty()) return faults;
    const bool halves =
        std::ranges::any_of(results, [](const LaneResult& result) { return result.spec.row().half; });
    if (tolerance > Agreement::floatTolerance && !halves) // all of them in the same format
        return translatedFormat("same mathematics with rounded operands: the first {} losses agree within "
                                "{:.0g}, all {} within {:.1g}\n",
                                agreed, tolerance, steps, largest);
    if (tolerance > Agreement::floatTolerance)
        return translatedFormat("same mathematics in different precision: the first {} losses agree within "
                                "{:.0g}, all {} within {:.1g}\n",
                                agreed, tolerance, steps, largest);
    if (agreed >= steps)
        return translatedFormat("same mathematics: largest relative difference {:.1g} over the first {}\n",
                                largest, counted(steps, "step"));
    return translatedFormat(
        "same mathematics: the first {} losses agree within {:.0g}; then rounding separates the lanes, by up "
        "to {:.1g} within {} steps (for example where a ReLU input is within rounding error of 0)\n",
        agreed, tolerance, largest, steps);
}

} // namespace lockstep::demos
