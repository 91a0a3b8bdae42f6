// What every command reports of its lanes, in one form: a table, what ran where, how it ended, the first keys
// of JSON.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/report/headline.h"
#include "engine/run/lane.h"
#include "engine/step/lane_spec.h"
#include "engine/step/train_job.h"

namespace lockstep::demos {

/// What every command reports of a lane.
struct LaneReport {
    LaneSpec spec;
    MachineInfo machine; ///< empty if the lane did not start
    LaneSnapshot end;    ///< of steps and losses, only a race's lanes have some
};

/// The first keys of a lane in a result file: "lane", ..., "message". Empty texts are null.
nlohmann::ordered_json laneJson(const LaneReport& lane);

/// A line with device, threads and driver; then kernels, and the seconds that the numbers leave out, after
/// `leftOut`. For a lane that did not start, one line says so. Its name is padded to `laneWidth` characters.
std::string whatRan(const LaneReport& lane, std::size_t laneWidth, const char* leftOut,
                    std::uint64_t skippedSteps = 0);

/// "gpu:best failed at step 12: out of memory" with a line break at the end; empty for a lane that finished.
/// `where` says how far it came: "at step 12".
std::string howItEnded(const LaneReport& lane, const std::string& where);

/// Calls `work`. What it throws becomes the lane's status and message, so that the results of other lanes
/// survive. `smaller`: what to try when memory runs out.
void runOrFail(LaneReport& lane, const char* smaller, const std::function<void()>& work);

/// The program's exit code: that of an interrupt, if there was one; else 1 if any lane failed.
template <class Lane> int exitCodeOf(const std::vector<Lane>& lanes, int interrupt) {
    const auto failed = [](const Lane& lane) { return lane.end.status == LaneStatus::failed; };
    if (interrupt != 0) return interrupt;
    return std::ranges::any_of(lanes, failed) ? 1 : 0;
}

/// Decimals with which seconds of at least `least` have three digits: 3 from 0.1 s on, at most 6.
int secondsDecimals(double least);
/// Those for a column with the seconds of these lanes' training.
template <class Lane> int secondsDecimals(const std::vector<Lane>& lanes) {
    double least = 1;
    for (const Lane& lane : lanes)
        if (lane.end.trainingSeconds > 0) least = std::min(least, lane.end.trainingSeconds);
    return secondsDecimals(least);
}

using TableRow = std::vector<std::string>;
/// A table of at most 110 columns: a lane's name and device, and then its figures. Names of devices are cut
/// where it would be wider.
///   lanes    names and machines
///   figures  headings, then a row per lane
std::string laneTable(const std::vector<LaneReport>& lanes, const std::vector<TableRow>& figures);

template <class Lane> std::size_t longestName(const std::vector<Lane>& lanes) {
    std::size_t longest = 0;
    for (const Lane& lane : lanes) longest = std::max(longest, lane.spec.text().size());
    return longest;
}

/// {"text", "comparable", "reason", "faster", "slower", "ratio", "measured_by"}. Where it is not valid,
/// `comparable` is false, `reason` says why, and what follows is null; else the reason is null.
nlohmann::ordered_json headlineJson(const Headline& headline, const LaneSpec& faster, const LaneSpec& slower,
                                    const char* measuredBy);

/// What lanes are compared by that train in turn, without a finish line.
struct RateComparison {
    const char* unit;   ///< of the rate: "networks/s"
    double shortest;    ///< seconds that both must have trained for
    const char* remedy; ///< where they have not: "raise --steps"
};

/// The part of headlineByRate() that is no template.
void sayByRate(Headline& headline, const LaneReport& faster, const LaneReport& slower, double fast,
               double slow, const RateComparison& how);

/// Compares by rate the lanes that pairUp() chooses among those whose counts() is true, or says why it
/// cannot.
template <class Lane>
Headline headlineByRate(const std::vector<Lane>& lanes, double (Lane::*rate)() const,
                        const RateComparison& how) {
    const auto pairing =
        pairUp(lanes, [&](std::size_t lane) { return lanes[lane].counts() ? (lanes[lane].*rate)() : 0; });
    Headline headline;
    if (!pairing) {
        headline.text = whyNone(lanes, "no comparison: fewer than two lanes finished");
        return headline;
    }
    static_cast<Pairing&>(headline) = *pairing;
    const Lane& faster = lanes[pairing->faster];
    const Lane& slower = lanes[pairing->slower];
    sayByRate(headline, faster, slower, (faster.*rate)(), (slower.*rate)(), how);
    return headline;
}

} // namespace lockstep::demos
