// The results of a race: for people, as JSON (docs/json.md) and as CSV.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/report/headline.h"
#include "engine/net/dataset.h"
#include "engine/run/finish_line.h"
#include "engine/run/race.h"

namespace lockstep::demos {

/// The job in two lines: data, network, settings and finish line.
std::string jobText(const TrainJob& job, const FinishLine& finish);

/// A table with one row per lane, then for each lane what ran where, and why it ended early. The table is at
/// most 110 columns wide.
std::string resultText(const std::vector<LaneResult>& results, bool together);

/// {"data": {name, train, test, inputs, classes}}, the first member of every result.
nlohmann::ordered_json dataJson(const Dataset& data);

/// {"loss", "accuracy", "count", "confusion": rows of true classes}; null without an evaluation.
nlohmann::ordered_json evaluationJson(const std::optional<Evaluation>& evaluation, std::size_t classes);

/// The results of a race or of one lane, as docs/json.md describes. Unknown values are null.
nlohmann::ordered_json raceJson(const TrainJob& job, const FinishLine& finish, bool together,
                                const std::vector<LaneResult>& results, const Headline& headline);

/// "lane,step,loss,seconds", then one row per lane and recorded step.
std::string raceCsv(const std::vector<LaneResult>& results);

} // namespace lockstep::demos
