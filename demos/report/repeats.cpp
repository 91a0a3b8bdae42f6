#include "demos/report/repeats.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/report/race_report.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

using SpreadJson = nlohmann::ordered_json;

template <class Value> Spread spreadOver(const RepeatedRace& race, double median, const Value& valueOf) {
    Spread spread{median, median, median};
    for (const std::vector<LaneResult>& run : race.runs) {
        const double value = valueOf(run);
        spread.least = std::min(spread.least, value);
        spread.most = std::max(spread.most, value);
    }
    return spread;
}

/// The run of a lane that stands for all.
std::size_t shownRun(const std::vector<std::vector<LaneResult>>& runs, std::size_t lane) {
    std::vector<std::size_t> order(runs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (const std::size_t run : order)
        if (!runs[run][lane].counts()) return run;
    std::ranges::stable_sort(order, {}, [&](std::size_t run) { return runs[run][lane].end.rate(); });
    return order[(order.size() - 1) / 2];
}

SpreadJson spreadJson(const Spread& spread) {
    return {{"median", spread.median}, {"least", spread.least}, {"most", spread.most}};
}

} // namespace

RepeatedRace repeatedRace(std::vector<std::vector<LaneResult>> runs) {
    RepeatedRace race{std::move(runs), {}, {}};
    for (std::size_t lane = 0; lane < race.runs.front().size(); ++lane) {
        const LaneResult& shown = race.lanes.emplace_back(race.runs[shownRun(race.runs, lane)][lane]);
        std::optional<LaneSpread>& spread = race.spreads.emplace_back();
        if (race.runs.size() < 2 || !shown.counts()) continue;
        spread = LaneSpread{
            spreadOver(race, shown.end.trainingSeconds,
                       [lane](const auto& run) { return run[lane].end.trainingSeconds; }),
            spreadOver(race, shown.end.rate(), [lane](const auto& run) { return run[lane].end.rate(); })};
    }
    return race;
}

std::optional<Spread> ratioSpread(const RepeatedRace& race, const Headline& headline) {
    if (race.runs.size() < 2 || !headline.valid) return std::nullopt;
    return spreadOver(race, headline.ratio, [&headline](const std::vector<LaneResult>& run) {
        const LaneSnapshot& faster = run[headline.faster].end;
        const LaneSnapshot& slower = run[headline.slower].end;
        return headline.bySeconds ? slower.trainingSeconds / faster.trainingSeconds
                                  : faster.rate() / slower.rate();
    });
}

Headline headlineFor(const RepeatedRace& race, const FinishLine& finish, bool together) {
    Headline headline = headlineFor(race.lanes, finish, together);
    headline.text += ratioText(race, headline);
    return headline;
}

std::vector<std::vector<std::string>> spreadRows(const RepeatedRace& race) {
    if (race.runs.size() < 2) return {};
    const auto range = [](const auto& format, const Spread& spread) {
        return fmt::format("{} ({} to {})", format(spread.median), format(spread.least), format(spread.most));
    };
    const int decimals = secondsDecimals(race.lanes);
    const auto seconds = [decimals](double value) { return fixed(value, decimals); };
    const auto rate = [](double value) { return grouped(static_cast<std::uint64_t>(std::round(value))); };
    std::vector<std::vector<std::string>> rows{
        {"lane", "seconds: median (range)", "samples/s: median (range)"}};
    for (std::size_t lane = 0; lane < race.lanes.size(); ++lane) {
        const std::optional<LaneSpread>& spread = race.spreads[lane];
        rows.push_back({race.lanes[lane].spec.text(), spread ? range(seconds, spread->seconds) : "-",
                        spread ? range(rate, spread->rate) : "-"});
    }
    return rows;
}

std::string spreadText(const RepeatedRace& race) {
    if (race.runs.size() < 2) return {};
    return fmt::format("{} runs of each lane; the table above shows its median run\n{}", race.runs.size(),
                       table(spreadRows(race), 1));
}

std::string ratioText(const RepeatedRace& race, const Headline& headline) {
    const std::optional<Spread> ratio = ratioSpread(race, headline);
    if (!ratio) return {};
    return fmt::format(" Over {} runs, the ratio of their speeds ranged from {} to {}{}.", race.runs.size(),
                       threeDigits(ratio->least), threeDigits(ratio->most),
                       ratio->least < 1 ? ", so neither was faster in every run" : "");
}

SpreadJson raceJson(const TrainJob& job, const FinishLine& finish, bool together, const RepeatedRace& race,
                    const Headline& headline, const std::optional<OtherLoad>& load) {
    SpreadJson json = raceJson(job, finish, together, race.lanes, headline);
    json["settings"]["repeat"] = race.runs.size();
    for (std::size_t lane = 0; lane < race.lanes.size(); ++lane) {
        const std::optional<LaneSpread>& spread = race.spreads[lane];
        json["lanes"][lane]["spread"] = spread ? SpreadJson{{"seconds", spreadJson(spread->seconds)},
                                                            {"samples_per_second", spreadJson(spread->rate)}}
                                               : SpreadJson();
    }
    const std::optional<Spread> ratio = ratioSpread(race, headline);
    json["headline"]["ratio_least"] = ratio ? SpreadJson(ratio->least) : SpreadJson();
    json["headline"]["ratio_most"] = ratio ? SpreadJson(ratio->most) : SpreadJson();
    json["other_load"] = otherLoadJson(load);
    return json;
}

} // namespace lockstep::demos
