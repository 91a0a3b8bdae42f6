// A race that was run several times: each lane's median run, and the range of all runs.
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

/// Of the runs of one lane.
struct LaneSpread {
    Spread seconds; ///< of training
    Spread rate;    ///< samples per second
};

struct RepeatedRace {
    std::vector<std::vector<LaneResult>> runs; ///< [run][lane]
    /// Of each lane the run with the median rate (the slower of the middle two), or the first run that cannot
    /// be compared.
    std::vector<LaneResult> lanes;
    /// Per lane; empty if there is only one run, or if a run cannot be compared.
    std::vector<std::optional<LaneSpread>> spreads;
};

/// At least one run; all have the same lanes.
RepeatedRace repeatedRace(std::vector<std::vector<LaneResult>> runs);

/// The ratio of the speeds of the headline's lanes in each run, paired run by run. Empty if there is only one
/// run, or no valid headline.
std::optional<Spread> ratioSpread(const RepeatedRace& race, const Headline& headline);

/// The headline of the median runs; its sentence ends with the range of the ratio, if there is one.
Headline headlineFor(const RepeatedRace& race, const FinishLine& finish, bool together);

/// Medians and ranges, a row per lane below the headings; empty for one run.
std::vector<std::vector<std::string>> spreadRows(const RepeatedRace& race);

/// The same as a table; empty for one run.
std::string spreadText(const RepeatedRace& race);

/// A sentence on the range of the headline's ratio, to follow it; empty without a range.
std::string ratioText(const RepeatedRace& race, const Headline& headline);

/// The result of raceJson() for the median runs, with settings.repeat, lanes[].spread, headline.ratio_least,
/// headline.ratio_most and other_load.
nlohmann::ordered_json raceJson(const TrainJob& job, const FinishLine& finish, bool together,
                                const RepeatedRace& race, const Headline& headline,
                                const std::optional<OtherLoad>& load);

} // namespace lockstep::demos
