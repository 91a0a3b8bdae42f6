// The pictures of "Devices": what ranks do in a step on one axis of time, an all-reduce message by message,
// and efficiency over the number of ranks.
#pragma once

#include "demos/draw/plot.h"
#include "demos/draw/ui.h"
#include "demos/exhibits/devices/devices_model.h"

namespace lockstep::demos {

/// Computing above, exchanging below, for every rank. Masked pictures show spans in their order, equally
/// wide. Fills the room; ranks that do not fit are left out, and counted.
void drawGantt(Ui& ui, const RankTrace& trace);
/// Its colours, by name, on a line where there is room.
void drawGanttLegend(Ui& ui);
/// Pixels that it needs for that.
float legendWidth(const Ui& ui);

/// Ranks around a circle, and the messages of one round between them; beside them, what each has sent.
///   round     from 0
///   progress  of the messages on their way, 0 to 1
void drawAllReduce(Ui& ui, const DevicesModel& model, std::size_t round, float progress);

/// Efficiency: measured points, and the model with the sliders' link up to mostModelledRanks.
void drawScaling(Ui& ui, const DevicesModel& model, Plot& plot);

} // namespace lockstep::demos
