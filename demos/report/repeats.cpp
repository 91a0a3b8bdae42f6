#include "demos/report/repeats.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/report/race_report.h"
#include "demos/words/language.h"
#include "demos/words/median.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

using SpreadJson = nlohmann::ordered_json;

/// Every number of a lane, under its name in JSON.
struct FigureName {
    const char* name;
    double LaneFigures::*figure;
};
constexpr FigureName figureNames[] = {{"run_steps", &LaneFigures::steps},
                                      {"seconds", &LaneFigures::seconds},
                                      {"timed_seconds", &LaneFigures::timedSeconds},
                                      {"device_seconds", &LaneFigures::deviceSeconds},
                                      {"warm_up_seconds", &LaneFigures::warmUpSeconds},
                                      {"evaluation_seconds", &LaneFigures::evaluationSeconds},
                                      {"samples_per_second", &LaneFigures::rate},
                                      {"seconds_per_step", &LaneFigures::secondsPerStep},
                                      {"device_seconds_per_step", &LaneFigures::deviceSecondsPerStep},
                                      {"gflops", &LaneFigures::gflops},
                                      {"watts", &LaneFigures::watts},
                                      {"test_loss", &LaneFigures::testLoss},
                                      {"test_accuracy", &LaneFigures::testAccuracy}};

std::vector<double> valuesOf(const RepeatedRace& race, std::size_t lane, double LaneFigures::*figure) {
    std::vector<double> values;
    for (const std::vector<LaneResult>& run : race.runs) values.push_back(figuresOf(run[lane]).*figure);
    return values;
}

Spread spreadOver(const std::vector<double>& values) {
    const auto [least, most] = std::ranges::minmax(values);
    return {median(values), least, most};
}

/// The run of a lane whose curves stand for all.
std::size_t shownRun(const std::vector<std::vector<LaneResult>>& runs, std::size_t lane) {
    std::vector<std::size_t> order(runs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (const std::size_t run : order)
        if (!runs[run][lane].counts()) return run;
    std::ranges::stable_sort(order, {}, [&](std::size_t run) { return runs[run][lane].end.rate(); });
    return order[(order.size() - 1) / 2];
}

SpreadJson spreadJson(const RepeatedRace& race, std::size_t lane) {
    if (!race.spread[lane]) return nullptr;
    SpreadJson json;
    for (const FigureName& row : figureNames)
        if (const auto spread = spreadOf(race, lane, row.figure))
            json[row.name] = {{"median", spread->median}, {"least", spread->least}, {"most", spread->most}};
    return json;
}

SpreadJson runsJson(const RepeatedRace& race, std::size_t lane) {
    SpreadJson runs = SpreadJson::array();
    for (const std::vector<LaneResult>& run : race.runs) {
        const LaneFigures figures = figuresOf(run[lane]);
        SpreadJson& json = runs.emplace_back(SpreadJson{{"status", name(run[lane].end.status)}});
        for (const FigureName& row : figureNames) json[row.name] = figures.*row.figure;
    }
    return runs;
}

} // namespace

RepeatedRace repeatedRace(std::vector<std::vector<LaneResult>> runs) {
    RepeatedRace race{std::move(runs), {}, {}, {}, {}};
    for (std::size_t lane = 0; lane < race.runs.front().size(); ++lane) {
        race.shownRuns.push_back(shownRun(race.runs, lane));
        const LaneResult& shown = race.lanes.emplace_back(race.runs[race.shownRuns.back()][lane]);
        LaneFigures& figures = race.figures.emplace_back(figuresOf(shown));
        if (shown.counts())
            for (const FigureName& row : figureNames)
                figures.*row.figure = median(valuesOf(race, lane, row.figure));
        race.spread.push_back(race.runs.size() > 1 && shown.counts());
    }
    return race;
}

std::optional<Spread> spreadOf(const RepeatedRace& race, std::size_t lane, double LaneFigures::*figure) {
    if (!race.spread[lane] || std::isnan(race.figures[lane].*figure)) return std::nullopt;
    return spreadOver(valuesOf(race, lane, figure));
}

std::optional<Spread> ratioSpread(const RepeatedRace& race, const Headline& headline) {
    if (race.runs.size() < 2 || !headline.valid) return std::nullopt;
    std::vector<double> ratios;
    for (const std::vector<LaneResult>& run : race.runs) {
        const LaneFigures faster = figuresOf(run[headline.faster]);
        const LaneFigures slower = figuresOf(run[headline.slower]);
        ratios.push_back(headline.bySeconds ? slower.seconds / faster.seconds : faster.rate / slower.rate);
    }
    return spreadOver(ratios);
}

Headline headlineFor(const RepeatedRace& race, const FinishLine& finish, bool together, double shortest) {
    Headline headline = headlineFor(race.lanes, race.figures, finish, together, shortest);
    if (!headline.shown.empty()) headline.shown += ratioText(race, headline);
    const EnglishHere english;
    headline.text += ratioText(race, headline);
    return headline;
}

std::vector<std::vector<std::string>> spreadRows(const RepeatedRace& race) {
    if (race.runs.size() < 2) return {};
    const TimeColumn time = timeColumn(race.figures);
    const auto rate = [](double value) { return grouped(static_cast<std::uint64_t>(std::round(value))); };
    std::vector<std::vector<std::string>> rows{
        {"lane", translatedFormat("{}: median (range)", translated(time.title)),
         "samples/s: median (range)"}};
    for (std::size_t lane = 0; lane < race.lanes.size(); ++lane) {
        const auto range = [&](double LaneFigures::*figure, const auto& format) {
            const auto spread = spreadOf(race, lane, figure);
            return spread ? translatedFormat("{} ({} to {})", format(spread->median), format(spread->least),
                                             format(spread->most))
                          : std::string("-");
        };
        rows.push_back({race.lanes[lane].spec.text(),
                        range(time.figure, [&](double value) { return time.text(value); }),
                        range(&LaneFigures::rate, rate)});
    }
    return rows;
}

std::string spreadText(const RepeatedRace& race) {
    if (race.runs.size() < 2) return {};
    return fmt::format("{} runs of each lane; the numbers above are medians\n{}", race.runs.size(),
                       table(spreadRows(race), 1));
}

std::string ratioText(const RepeatedRace& race, const Headline& headline) {
    const std::optional<Spread> ratio = ratioSpread(race, headline);
    if (!ratio) return {};
    return translatedFormat(" Over {} runs, the ratio of their speeds ranged from {} to {}{}.",
                            race.runs.size(), threeDigits(ratio->least), threeDigits(ratio->most),
                            translated(ratio->least < 1 ? ", so neither was faster in every run" : ""));
}

SpreadJson raceJson(const TrainJob& job, const FinishLine& finish, bool together, const RepeatedRace& race,
                    const Headline& headline, const std::optional<OtherLoad>& load) {
    SpreadJson json = raceJson(job, finish, together, race.lanes, race.figures, headline);
    json["settings"]["repeat"] = race.runs.size();
    for (std::size_t lane = 0; lane < race.lanes.size(); ++lane) {
        json["lanes"][lane]["spread"] = spreadJson(race, lane);
        json["lanes"][lane]["runs"] = runsJson(race, lane);
        json["lanes"][lane]["shown_run"] = race.shownRuns[lane] + 1;
    }
    const std::optional<Spread> ratio = ratioSpread(race, headline);
    json["headline"]["ratio_least"] = ratio ? SpreadJson(ratio->least) : SpreadJson();
    json["headline"]["ratio_most"] = ratio ? SpreadJson(ratio->most) : SpreadJson();
    json["other_load"] = otherLoadJson(load);
    return json;
}

} // namespace lockstep::demos
