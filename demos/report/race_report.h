// The results of a race: for people, as JSON (docs/json.md) and as CSV.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/options/run_options.h"
#include "demos/report/headline.h"
#include "demos/report/lane_report.h"
#include "demos/report/result_files.h"
#include "engine/net/dataset.h"
#include "engine/run/finish_line.h"
#include "engine/run/lane.h"
#include "engine/run/race.h"

namespace lockstep::demos {

/// The job in two lines: data, network, settings and finish line.
std::string jobText(const TrainJob& job, const FinishLine& finish);
/// The test accuracy of each lane's network in integers of 8 bits beside that in fp32, a line each; in
/// regression, its loss. Empty for lanes that were not evaluated so.
std::string int8Text(const std::vector<LaneResult>& results);
/// What an emulated number format means for the times, as a line; empty for fp32.
std::string emulationRemark(const PrecisionSettings& precision);

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

/// The results of a race or of one lane, as docs/json.md describes. Unknown values are null.
nlohmann::ordered_json raceJson(const TrainJob& job, const FinishLine& finish, bool together,
                                const std::vector<LaneResult>& results,
                                const std::vector<LaneFigures>& figures, const Headline& headline);

/// "lane,step,loss,seconds", then one row per lane and recorded step.
std::string raceCsv(const std::vector<LaneResult>& results);

} // namespace lockstep::demos
