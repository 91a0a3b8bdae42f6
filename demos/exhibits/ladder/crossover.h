// The crossover, drawn: examples per second of processor and GPU, and the parts of a GPU step.
#pragma once

#include <string>
#include <vector>

#include "demos/draw/plot.h"
#include "demos/kit/crossover.h"

namespace lockstep::demos {

class LadderModel;

/// What the parts of the smallest and the largest step say.
std::string partsText(const std::vector<SweepPoint>& points);

void drawCrossover(Ui& ui, LadderModel& model, SweepBy& by, Plot& plot);

} // namespace lockstep::demos
