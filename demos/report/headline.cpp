#include "demos/report/headline.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "demos/report/text.h"

namespace lockstep::demos {

namespace {

constexpr double alike = 1.05;

/// "cpu:scalar on AMD Ryzen 9 9950X (1 thread, no SIMD)".
std::string fullName(const LaneResult& result) {
    std::string note =
        fmt::format("{} thread{}", result.machine.threads, result.machine.threads == 1 ? "" : "s");
    if (const std::string_view lack = handicap(result.spec); !lack.empty()) note = lack;
    if (result.spec.gpu && result.machine.software)
        note = "software, not a GPU" + (handicap(result.spec).empty() ? "" : ", " + note);
    else if (result.spec.gpu)
        note = handicap(result.spec);
    const std::string device = shortDevice(result.machine);
    return fmt::format("{} on {}{}", result.spec.text(), device, note.empty() ? "" : " (" + note + ")");
}

bool reached(const LaneResult& result, const FinishLine& finish) {
    if (!result.evaluation) return false;
    return (finish.accuracy > 0 && result.evaluation->accuracy >= finish.accuracy) ||
           (finish.loss > 0 && result.evaluation->loss <= finish.loss);
}

double speed(const LaneResult& result, bool bySeconds) {
    return bySeconds ? 1 / result.end.trainingSeconds : result.end.rate();
}

/// The fastest of the lanes that count and that `wanted` holds for.
std::optional<std::size_t> fastest(const std::vector<LaneResult>& results, bool bySeconds, auto wanted) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (!results[i].counts() || results[i].end.trainingSeconds <= 0 || !wanted(results[i])) continue;
        if (!best || speed(results[i], bySeconds) > speed(results[*best], bySeconds)) best = i;
    }
    return best;
}

/// The lane that the fastest one of all is compared with.
std::optional<std::size_t> opponent(const std::vector<LaneResult>& results, std::size_t best,
                                    bool bySeconds) {
    const bool gpu = results[best].spec.gpu;
    const auto other = fastest(results, bySeconds, [gpu](const LaneResult& r) { return r.spec.gpu != gpu; });
    if (other) return other;
    std::optional<std::size_t> slowest;
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (i == best || !results[i].counts() || results[i].end.trainingSeconds <= 0) continue;
        if (!slowest || speed(results[i], bySeconds) < speed(results[*slowest], bySeconds)) slowest = i;
    }
    return slowest;
}

std::string whyNone(const std::vector<LaneResult>& results) {
    if (results.size() < 2) return "no comparison: one lane alone";
    const bool differs =
        std::ranges::any_of(results, [](const LaneResult& r) { return !r.agreement.same(); });
    return differs ? "no comparison: the lanes did not compute the same"
                   : "no comparison: fewer than two lanes reached the finish line";
}

std::string sentence(const LaneResult& faster, const LaneResult& slower, const Headline& headline,
                     const FinishLine& finish, bool together) {
    const std::string evidence =
        headline.bySeconds
            ? fmt::format("{} s of training against {} s", threeDigits(faster.end.trainingSeconds),
                          threeDigits(slower.end.trainingSeconds))
            : fmt::format("{} samples/s against {}", shortRate(faster.end.rate()),
                          shortRate(slower.end.rate()));
    FinishLine goal; // without the limit that ends a run which never gets there
    goal.accuracy = finish.accuracy;
    goal.loss = finish.loss;
    const std::string task = headline.bySeconds ? "reached " + goal.text() : "trained";
    const std::string how =
        together ? "head to head: the lanes shared the machine, so this is a show, no measurement"
                 : "time trial, end to end, warm-up not counted";
    if (headline.ratio < alike)
        return fmt::format("{} and {} {} equally fast, within 5 %: {} ({}).", fullName(faster),
                           fullName(slower), task, evidence, how);
    return fmt::format("{} {} {} times as fast as {}: {} ({}).", fullName(faster), task,
                       threeDigits(headline.ratio), fullName(slower), evidence, how);
}

} // namespace

Headline headlineFor(const std::vector<LaneResult>& results, const FinishLine& finish, bool together) {
    Headline headline;
    headline.bySeconds =
        finish.needsEvaluation() && std::ranges::all_of(results, [&finish](const LaneResult& result) {
            return !result.counts() || reached(result, finish);
        });
    const auto best = fastest(results, headline.bySeconds, [](const LaneResult&) { return true; });
    const auto other = best ? opponent(results, *best, headline.bySeconds) : std::nullopt;
    if (!other) {
        headline.text = whyNone(results);
        return headline;
    }
    headline.valid = true;
    headline.faster = *best;
    headline.slower = *other;
    headline.ratio = speed(results[*best], headline.bySeconds) / speed(results[*other], headline.bySeconds);
    headline.text = sentence(results[*best], results[*other], headline, finish, together);
    return headline;
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
                "different mathematics: the losses of {} leave the others' after {} steps and differ by "
                "up to {:.1g} ({:.0g} is allowed over the first {}); its speed is not compared\n",
                result.spec.text(), agreement.agreedSteps, agreement.largestDifference, agreement.tolerance,
                Agreement::decisiveSteps);
    }
    if (compared < 2) return {};
    if (!faults.empty()) return faults;
    if (tolerance > Agreement::floatTolerance)
        return fmt::format("same mathematics in different precision: the first {} losses agree within "
                           "{:.0g}, all {} within {:.1g}\n",
                           agreed, tolerance, steps, largest);
    if (agreed >= steps)
        return fmt::format("same mathematics: largest relative difference {:.1g} over the first {} steps\n",
                           largest, steps);
    return fmt::format("same mathematics: the first {} losses agree within {:.0g}; then rounding sets the "
                       "lanes apart, by up "
                       "to {:.1g} within {} steps, as where a ReLU unit lies within rounding of 0\n",
                       agreed, tolerance, largest, steps);
}

} // namespace lockstep::demos
