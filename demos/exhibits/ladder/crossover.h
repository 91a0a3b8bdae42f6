// The crossover, drawn: examples per second of processor and GPU, and the parts of a GPU step.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "demos/draw/plot.h"
#include "demos/kit/crossover.h"

namespace lockstep::demos {

class LadderModel;

/// What the parts of the smallest and the largest step say.
std::string partsText(const std::vector<SweepPoint>& points);

/// In place of a plot without data: a question, what there is to know, and the button that brings the data.
/// Returns whether it was pressed. `name`: of the button among the controls
bool drawInvitation(Ui& ui, const std::string& question, std::string_view about, const std::string& label,
                    const char* name, std::string_view words);

void drawCrossover(Ui& ui, LadderModel& model, SweepBy& by, Plot& plot);

} // namespace lockstep::demos
