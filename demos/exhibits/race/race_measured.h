// What lessons quote of a race.
#pragma once

#include "demos/exhibits/race/race_model.h"
#include "demos/kit/measured.h"

namespace lockstep::demos {

/// "race.finished" (1), "race.faster" ("CPU", "GPU"), "race.ratio" (of the compared lanes, at least 1),
/// "race.gpu_to_cpu" (of their speeds), and of each lane "race.LANE.samples_per_second", ".seconds" of
/// training, ".loss" and ".accuracy" on the test split, ".gflops".
void addMeasured(MeasuredValues& values, const RaceModel& model);

} // namespace lockstep::demos
