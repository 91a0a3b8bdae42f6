// The results of a race: for people, as JSON (docs/json.md) and as CSV; and what every command reports.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/options/run_options.h"
#include "demos/report/headline.h"
#include "demos/report/result_files.h"
#include "engine/net/dataset.h"
#include "engine/run/finish_line.h"
#include "engine/run/lane.h"
#include "engine/run/race.h"
#include "engine/step/lane_spec.h"

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

/// The job in two lines: data, network, settings and finish line.
std::string jobText(const TrainJob& job, const FinishLine& finish);

/// Decimals with which seconds of at least `least` have three digits: 3 from 0.1 s on, at most 6.
int secondsDecimals(double least);

/// How a table shows the lanes' times, so that they stand on the basis of the rates beside them: in seconds
/// of training or, where a lane was timed beyond the finish line, in milliseconds per step.
struct TimeColumn {
    const char* title;       ///< "seconds", "ms/step"
    const char* deviceTitle; ///< of the time on the device
    double LaneFigures::*figure;
    double LaneFigures::*deviceFigure;
    int decimals; ///< of seconds; -1: three digits of milliseconds

    /// A number of one of these figures, without its unit.
    std::string text(double seconds) const;
};
TimeColumn timeColumn(const std::vector<LaneFigures>& figures);

/// A table of at most 110 columns, a row per lane; then which lanes are throttled, what ran where, and why it
/// ended early.
std::string resultText(const std::vector<LaneResult>& results, const std::vector<LaneFigures>& figures,
                       bool together);

/// A row per lane below the headings: steps, times, rate, GFLOP/s, test loss and accuracy.
std::vector<std::vector<std::string>> figureRows(const std::vector<LaneFigures>& figures);

/// {"data": {name, train, test, inputs, classes}}, the first member of every result.
nlohmann::ordered_json dataJson(const Dataset& data);

/// {"loss", "accuracy", "count", "confusion": rows of true classes}; null without an evaluation.
nlohmann::ordered_json evaluationJson(const std::optional<Evaluation>& evaluation, std::size_t classes);

/// {"text", "comparable", "reason", "faster", "slower", "ratio", "measured_by"}. Where it is not valid,
/// `comparable` is false, `reason` says why, and what follows is null; else the reason is null.
nlohmann::ordered_json headlineJson(const Headline& headline, const LaneSpec& faster, const LaneSpec& slower,
                                    const char* measuredBy);

/// The results of a race or of one lane, as docs/json.md describes. Unknown values are null.
nlohmann::ordered_json raceJson(const TrainJob& job, const FinishLine& finish, bool together,
                                const std::vector<LaneResult>& results,
                                const std::vector<LaneFigures>& figures, const Headline& headline);

/// "lane,step,loss,seconds", then one row per lane and recorded step.
std::string raceCsv(const std::vector<LaneResult>& results);

} // namespace lockstep::demos
