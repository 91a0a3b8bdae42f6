// The first view of "Parallelism": a card for each experiment, in groups.
#pragma once

#include "demos/draw/ui.h"
#include "demos/exhibits/parallelism/parallelism_model.h"

namespace lockstep::demos {

/// Each card has a moving picture of what the experiment is about, its question and, once it is measured, the
/// result in a number. Returns the experiment whose card was pressed; null: none.
///   seconds   time in the pictures
const Experiment* drawExperimentCards(Ui& ui, const ParallelismModel& model, double seconds);

} // namespace lockstep::demos
