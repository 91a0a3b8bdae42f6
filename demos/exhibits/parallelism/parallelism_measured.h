// What lessons quote of experiments.
#pragma once

#include "demos/exhibits/parallelism/parallelism_model.h"
#include "demos/kit/measured.h"

namespace lockstep::demos {

/// "lab.EXPERIMENT.finished" (1), its numbers as docs/json.md names them:
/// "lab.launch.microseconds_per_launch", and by which factor a sketch is typically off. With edited kernels
/// "lab.EXPERIMENT.edited.passed" (1, or 0: refused), ".failed" (1: they did not compile, or 0), ".speed_up"
/// over the built-in ones, and the same numbers.
void addMeasured(MeasuredValues& values, const ParallelismModel& model);

} // namespace lockstep::demos
