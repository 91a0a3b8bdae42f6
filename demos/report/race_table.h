// The end of a race, or of a single lane's run, as people read it.
#pragma once

#include <string>
#include <vector>

#include "engine/net/dataset.h"
#include "engine/run/finish_line.h"
#include "engine/run/race.h"

namespace lockstep::demos {

/// What is about to be trained, in two lines: data, network, settings, finish line.
std::string jobText(const TrainJob& job, const FinishLine& finish);

/// One row per lane with its numbers, then a line per lane on what ran where, and why a lane ended early. At
/// most 110 columns, but for the lines on what ran where.
std::string resultText(const std::vector<LaneResult>& results, bool together);

} // namespace lockstep::demos
