// The results of a race, or of a single lane, as text.
#pragma once

#include <string>
#include <vector>

#include "engine/net/dataset.h"
#include "engine/run/finish_line.h"
#include "engine/run/race.h"

namespace lockstep::demos {

/// The job in two lines: data, network, settings and finish line.
std::string jobText(const TrainJob& job, const FinishLine& finish);

/// A table with one row per lane, then for each lane what ran where, and why it ended early. The table is at
/// most 110 columns wide.
std::string resultText(const std::vector<LaneResult>& results, bool together);

} // namespace lockstep::demos
