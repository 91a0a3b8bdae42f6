#include "demos/report/population_table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "demos/report/contenders.h"
#include "demos/words/lane_text.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

std::string axisText(const PopulationAxis& axis) {
    if (axis.parameter == Hyperparameter::activation) return axis.text();
    return fmt::format("{} {:g} to {:g}{}", name(axis.parameter), axis.from, axis.to,
                       axis.logarithmic ? ", logarithmic" : "");
}

/// Null where no network has a loss.
const MemberResult* bestOf(const PopulationLaneResult& lane) {
    if (lane.members.empty() || lane.summary.begun == 0) return nullptr;
    const MemberResult& best = lane.members[lane.summary.ranking.front()];
    return best.diverged || !std::isfinite(best.loss) ? nullptr : &best;
}

std::vector<std::string> numbers(const PopulationLaneResult& lane) {
    constexpr std::size_t deviceWidth = 30;
    return {lane.spec.text(),
            lane.machine.device.empty() ? "-" : honestDevice(lane.machine, deviceWidth),
            grouped(lane.summary.finished),
            grouped(lane.summary.networkSteps),
            fixed(lane.trainingSeconds, 3),
            shortRate(lane.networkStepsPerSecond()),
            shortRate(lane.networksPerSecond()),
            grouped(lane.summary.diverged)};
}

std::string bestText(const PopulationSpec& spec, const PopulationLaneResult& lane, std::size_t laneWidth) {
    const std::string start = fmt::format("{:<{}}  best network: ", lane.spec.text(), laneWidth);
    const MemberResult* best = bestOf(lane);
    if (best == nullptr) return start + "none, for none has a finite loss\n";
    const std::size_t member = lane.summary.ranking.front();
    const std::string accuracy = std::isnan(best->accuracy) ? "" : ", accuracy " + percent(best->accuracy);
    return start + fmt::format("{}: loss {}{}\n", spec.describe(member), lossText(best->loss), accuracy);
}

std::string whatRan(const PopulationLaneResult& lane, std::size_t laneWidth) {
    const std::string lines = ranWhere(lane.spec, lane.machine, laneWidth);
    if (lane.machine.device.empty()) return lines;
    return lines + fmt::format("{:{}}  not counted above: {:.3f} s warm-up, {:.3f} s evaluation\n", "",
                               laneWidth, lane.warmUpSeconds, lane.evaluationSeconds);
}

std::string howItEnded(const PopulationLaneResult& lane) {
    if (lane.status == LaneStatus::finished) return {};
    const std::string reason = lane.message.empty() ? "" : ": " + lane.message;
    return wrapped(fmt::format("{} {} with {} networks at their end{}", lane.spec.text(), name(lane.status),
                               grouped(lane.summary.finished), reason)) +
           "\n";
}

/// "100 % of the networks after 1 step, 98.2 % after 10".
std::string sharesText(const std::vector<AgreedShare>& shares) {
    std::string text;
    for (const AgreedShare& agreed : shares)
        text += text.empty() ? fmt::format("{:.4g} % of the networks after {} step{}", agreed.share * 100,
                                           agreed.steps, agreed.steps == 1 ? "" : "s")
                             : fmt::format(", {:.4g} % after {}", agreed.share * 100, agreed.steps);
    return text;
}

constexpr double shortest = 0.01; // seconds: below, a machine's hiccups decide

bool tooShort(const PopulationLaneResult& lane) { return lane.trainingSeconds < shortest; }

std::string whyNone(const std::vector<PopulationLaneResult>& results) {
    if (results.size() < 2) return "no comparison: only one lane";
    const bool differs =
        std::ranges::any_of(results, [](const auto& lane) { return !lane.agreement.same(); });
    return differs ? "no comparison: the lanes computed different results"
                   : "no comparison: fewer than two lanes came to the end";
}

std::string sentence(const PopulationLaneResult& faster, const PopulationLaneResult& slower, double ratio) {
    const std::string first = fullName(faster.spec, faster.machine);
    const std::string second = fullName(slower.spec, slower.machine);
    const std::string evidence =
        fmt::format("{} network-steps/s against {} (one after the other, end to end, without warm-up)",
                    shortRate(faster.networkStepsPerSecond()), shortRate(slower.networkStepsPerSecond()));
    if (ratio < alike)
        return fmt::format("{} and {} trained equally fast, within 5 %: {}.", first, second, evidence);
    return fmt::format("{} trained {} times as fast as {}: {}.", first, threeDigits(ratio), second, evidence);
}

} // namespace

std::string populationText(const PopulationGrid& grid) {
    const Dataset& data = *grid.data.front();
    const NetShape& shape = grid.job.shape;
    const TrainSettings& settings = grid.job.settings;
    return fmt::format("{}: {} training and {} test examples; {} networks {}, {}, {} parameters each\n"
                       "{} columns from left to right: {}\n{} rows from below: {}\n"
                       "{}, batch {}, seed {}{}; until {} steps\n",
                       data.name, grouped(data.train.count), grouped(data.test.count),
                       grouped(grid.job.members.size()), shape.describeWidths(), name(shape.loss),
                       grouped(shape.parameters()), grid.spec.columns, axisText(grid.spec.x), grid.spec.rows,
                       axisText(grid.spec.y), name(settings.optimizer.kind), settings.batch, settings.seed,
                       settings.shuffle ? "" : ", file order", grouped(grid.job.steps));
}

std::string populationResultText(const PopulationSpec& spec,
                                 const std::vector<PopulationLaneResult>& results) {
    std::vector<std::vector<std::string>> rows = {
        {"lane", "device", "networks", "network-steps", "seconds", "steps/s", "networks/s", "diverged"}};
    std::size_t laneWidth = 0;
    for (const PopulationLaneResult& lane : results) {
        rows.push_back(numbers(lane));
        laneWidth = std::max(laneWidth, lane.spec.text().size());
    }
    std::string text = table(rows, 2) + "\n";
    for (const PopulationLaneResult& lane : results)
        if (!lane.members.empty()) text += bestText(spec, lane, laneWidth);
    text += "\n";
    for (const PopulationLaneResult& lane : results) text += whatRan(lane, laneWidth);
    for (const PopulationLaneResult& lane : results) text += howItEnded(lane);
    return text;
}

std::string agreementText(const std::vector<PopulationLaneResult>& results) {
    std::string text;
    for (const PopulationLaneResult& lane : results) {
        if (lane.agreement.shares.empty()) continue;
        text += fmt::format("{} mathematics: {} agrees within {:.0g} in {}{}\n",
                            lane.agreement.same() ? "same" : "different", lane.spec.text(),
                            PopulationAgreement::tolerance, sharesText(lane.agreement.shares),
                            lane.agreement.same() ? "" : "; its speed is not compared");
    }
    return text;
}

Headline headlineFor(const std::vector<PopulationLaneResult>& results) {
    std::vector<Contender> lanes;
    lanes.reserve(results.size());
    for (const PopulationLaneResult& lane : results)
        lanes.push_back({lane.spec.gpu, lane.counts() ? lane.networkStepsPerSecond() : 0});
    const auto pairing = pairUp(lanes);
    Headline headline;
    if (!pairing) {
        headline.text = whyNone(results);
        return headline;
    }
    for (const std::size_t place : {pairing->faster, pairing->slower}) {
        if (!tooShort(results[place])) continue;
        headline.text = fmt::format("no comparison: {} trained for {} only; more --steps make it long enough",
                                    results[place].spec.text(), timeTaken(results[place].trainingSeconds));
        return headline;
    }
    headline.valid = true;
    headline.faster = pairing->faster;
    headline.slower = pairing->slower;
    headline.ratio = pairing->ratio;
    headline.text = sentence(results[pairing->faster], results[pairing->slower], pairing->ratio);
    return headline;
}

} // namespace lockstep::demos
