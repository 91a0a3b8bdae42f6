// Where each lane of a race spends its time.
#pragma once

#include <cstddef>

#include "demos/draw/ui.h"
#include "demos/exhibits/race/race_model.h"

namespace lockstep::demos {

/// Where each lane spends its time. `scale`: 0 its share of the time, 1 the time per step.
void drawTimes(Ui& ui, const RaceRun& run, std::size_t& scale);

} // namespace lockstep::demos
