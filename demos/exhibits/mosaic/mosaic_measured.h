// What the mosaic has measured, by the names that lessons quote.
#pragma once

#include "demos/exhibits/mosaic/mosaic_model.h"
#include "demos/kit/measured.h"

namespace lockstep::demos {

/// "mosaic.networks" and "mosaic.finished" (1). Once all have finished, of the first side that trained them:
/// "mosaic.diverged_share", of the best network "mosaic.best_loss" and "mosaic.best_learning_rate", and
/// "mosaic.first_diverged_learning_rate", the lowest one with which a network diverged.
void addMeasured(MeasuredValues& values, const MosaicModel& model);

} // namespace lockstep::demos
