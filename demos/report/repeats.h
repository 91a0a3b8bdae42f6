// A race that was run several times: the median of each of a lane's numbers, and the range of all runs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/report/headline.h"
#include "demos/report/other_load.h"
#include "engine/run/race.h"

namespace lockstep::demos {

/// More runs tell little more.
inline constexpr std::size_t mostRepeats = 20;

struct Spread {
    double median = 0;
    double least = 0;
    double most = 0;
};

struct RepeatedRace {
    std::vector<std::vector<LaneResult>> runs; ///< [run][lane]
    /// Per lane the index of the run whose losses, evaluation and operations stand for all: the one with the
    /// middle rate (the slower of the middle two), or the first run that cannot be compared.
    std::vector<std::size_t> shownRuns;
    std::vector<LaneResult> lanes; ///< of those runs
    /// Per lane the median of each number over all runs; where one cannot be compared, that run's numbers.
    std::vector<LaneFigures> figures;
    std::vector<bool> spread; ///< per lane: there are several runs, and all can be compared
};

/// At least one run; all have the same lanes.
RepeatedRace repeatedRace(std::vector<std::vector<LaneResult>> runs);

/// Median and range of one of a lane's numbers. Empty where the lane has no spread, or no such number.
std::optional<Spread> spreadOf(const RepeatedRace& race, std::size_t lane, double LaneFigures::*figure);

/// The ratio of the speeds of the headline's lanes in each run, paired run by run; its median is that of
/// these ratios. Empty if there is only one run, or no valid headline.
std::optional<Spread> ratioSpread(const RepeatedRace& race, const Headline& headline);

/// The headline of the medians; its sentence ends with the range of the ratio, if there is one.
Headline headlineFor(const RepeatedRace& race, const FinishLine& finish, bool together,
                     double shortest = shortestRace);

/// Medians and ranges, a row per lane below the headings; empty for one run. Times are per step where a lane
/// was timed beyond the finish line.
std::vector<std::vector<std::string>> spreadRows(const RepeatedRace& race);

/// The same as a table; empty for one run.
std::string spreadText(const RepeatedRace& race);

/// A sentence on the range of the headline's ratio, to follow it; empty without a range.
std::string ratioText(const RepeatedRace& race, const Headline& headline);

/// The result of raceJson() for the medians, with settings.repeat, lanes[].spread, lanes[].runs,
/// lanes[].shown_run, headline.ratio_least, headline.ratio_most and other_load.
nlohmann::ordered_json raceJson(const TrainJob& job, const FinishLine& finish, bool together,
                                const RepeatedRace& race, const Headline& headline,
                                const std::optional<OtherLoad>& load);

} // namespace lockstep::demos
