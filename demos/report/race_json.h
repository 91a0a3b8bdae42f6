// Race results as JSON and CSV; docs/json.md describes the format.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/report/headline.h"
#include "engine/run/finish_line.h"
#include "engine/run/race.h"

namespace lockstep::demos {

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
