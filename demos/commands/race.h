// Runs lanes with progress and Ctrl-C, and reports their results. Shared by `race` and `train`.
#pragma once

#include "demos/options/run_options.h"
#include "engine/run/race.h"

namespace lockstep::demos {

/// Runs the race to its end; an interrupt stops the lanes. Returns the exit code so far: 0, or then 130.
int runToEnd(Race& race, bool quiet);

/// Prints the table and the headline, and writes the requested files. If results go to standard output
/// (--json -), the table goes to standard error. Returns the exit code: `soFar`, or 1 if a lane failed.
int report(const TrainJob& job, const FinishLine& finish, const RunOptions& options, Race& race, int soFar);

/// Finish line, evaluation, recorded losses, and the initial weights from --init.
LaneOptions laneOptions(const RunOptions& options, const TrainJob& job, const FinishLine& finish);

} // namespace lockstep::demos
