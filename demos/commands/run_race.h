// Running lanes with progress and Ctrl-C, and reporting what they did: what `race` and `train` share.
#pragma once

#include <vector>

#include "demos/options/run_options.h"
#include "engine/run/race.h"

namespace lockstep::demos {

/// Runs the race to its end. The first interrupt stops the lanes. Returns the exit code so far: 0, or that of
/// the interrupt.
int runToEnd(Race& race, bool quiet);

/// Prints table and headline, and writes the files that were asked for. With results on standard output
/// (--json -), the table goes to standard error. Returns the exit code: `soFar` if not 0, 1 when a lane
/// failed, else 0.
int report(const TrainJob& job, const FinishLine& finish, const RunOptions& options, Race& race, int soFar);

/// The parameters of --init as the start of a run; empty without it.
std::optional<TrainerState> startFromWeights(const RunOptions& options, const TrainJob& job);

} // namespace lockstep::demos
