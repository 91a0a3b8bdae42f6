#include "demos/report/headline.h"

#include <algorithm>

#include <fmt/format.h>

#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

bool reached(const LaneResult& result, const FinishLine& finish) {
    if (!result.evaluation) return false;
    return (finish.accuracy > 0 && result.evaluation->accuracy >= finish.accuracy) ||
           (finish.loss > 0 && result.evaluation->loss <= finish.loss);
}

std::string sentence(const LaneResult& faster, const LaneResult& slower, const Headline& headline,
                     const FinishLine& finish, bool together) {
    const std::string evidence =
        headline.bySeconds
            ? fmt::format("{} s of training against {} s", threeDigits(faster.end.trainingSeconds),
                          threeDigits(slower.end.trainingSeconds))
            : fmt::format("{} samples/s against {}", shortRate(faster.end.rate()),
                          shortRate(slower.end.rate()));
    FinishLine goal; // without the limit for runs that never reach it
    goal.accuracy = finish.accuracy;
    goal.loss = finish.loss;
    const std::string task = headline.bySeconds ? "reached " + goal.text() : "trained";
    constexpr double shortest = 0.95; // seconds: below, other programs decide
    const auto tooShort = [&](const LaneResult& lane) {
        return (headline.bySeconds ? lane.end.trainingSeconds : lane.end.timedSeconds()) < shortest;
    };
    const std::string how =
        together ? "head to head: the lanes competed for the machine, so this is not a measurement"
        : tooShort(faster) || tooShort(slower) ? "too short to compare: a race should take a second or more"
                                               : "time trial, end to end, without warm-up";
    return comparison(fullName(faster.spec, faster.machine), fullName(slower.spec, slower.machine),
                      headline.ratio, task, fmt::format("{} ({})", evidence, how));
}

std::string winner(const std::vector<LaneResult>& results, const Headline& headline) {
    if (headline.ratio < equalBelow) return std::string(translated("Equally fast"));
    const LaneSpec& faster = results[headline.faster].spec;
    const LaneSpec& slower = results[headline.slower].spec;
    const bool machines = faster.gpu != slower.gpu;
    const bool software =
        results[headline.faster].machine.software || results[headline.slower].machine.software;
    // Two digits are enough to be remembered; near 1, two would hide half of the difference.
    const bool near = headline.ratio < 2, far = headline.ratio >= 99.5;
    const std::string ratio =
        near || far ? threeDigits(headline.ratio) : fmt::format("{:.2g}", headline.ratio);
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
        return std::string(!lane.spec.gpu ? "CPU" : lane.machine.software ? "software Vulkan" : "GPU");
    };
    const bool first = faster.machine.throttled(), second = slower.machine.throttled();
    if (first && second) return ", both throttled";
    return first || second ? fmt::format(", {} throttled", who(first ? faster : slower)) : "";
}

} // namespace

std::string comparison(const std::string& faster, const std::string& slower, double ratio,
                       const std::string& task, const std::string& evidence) {
    if (ratio < equalBelow)
        return fmt::format("{} and {} {} equally fast, within 5 %: {}.", faster, slower, task, evidence);
    return fmt::format("{} {} {} times as fast as {}: {}.", faster, task, threeDigits(ratio), slower,
                       evidence);
}

Headline headlineFor(const std::vector<LaneResult>& results, const FinishLine& finish, bool together) {
    Headline headline;
    headline.bySeconds =
        finish.needsEvaluation() && std::ranges::all_of(results, [&finish](const LaneResult& result) {
            return !result.counts() || reached(result, finish);
        });
    const auto pairing = pairUp(results, [&headline](const LaneResult& lane) {
        if (!lane.counts() || lane.end.trainingSeconds <= 0) return 0.0;
        return headline.bySeconds ? 1 / lane.end.trainingSeconds : lane.end.rate();
    });
    if (!pairing) {
        headline.text = whyNone(results, "reached the finish line");
        return headline;
    }
    headline.valid = true;
    static_cast<Pairing&>(headline) = *pairing;
    headline.text = sentence(results[pairing->faster], results[pairing->slower], headline, finish, together);
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
            faults += fmt::format(
                "different mathematics: the losses of {} leave the others' after {} and differ "
                "by up to {:.1g} (tolerance: {:.0g} over the first {}), so its speed is not compared\n",
                result.spec.text(), counted(agreement.agreedSteps, "step"), agreement.largestDifference,
                agreement.tolerance, Agreement::decisiveSteps);
    }
    if (compared < 2) return {};
    if (!faults.empty()) return faults;
    if (tolerance > Agreement::floatTolerance)
        return fmt::format("same mathematics in different precision: the first {} losses agree within "
                           "{:.0g}, all {} within {:.1g}\n",
                           agreed, tolerance, steps, largest);
    if (agreed >= steps)
        return fmt::format("same mathematics: largest relative difference {:.1g} over the first {}\n",
                           largest, counted(steps, "step"));
    return fmt::format(
        "same mathematics: the first {} losses agree within {:.0g}; then rounding separates the lanes, by up "
        "to {:.1g} within {} steps (for example where a ReLU input is within rounding error of 0)\n",
        agreed, tolerance, largest, steps);
}

} // namespace lockstep::demos
