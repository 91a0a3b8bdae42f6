// From a point of the plane to a network's training, and from its end to the one number that is shown: the
// same for all machines. Inside engine/train only.
#pragma once

#include "engine/grid/map.h"

namespace lockstep {

shared::MapStart startOf(const MapJob& job, MapPoint point);

MapOutcome outcomeOf(const MapJob& job, const shared::MapEnd& end);

/// Of the last steps, how many there are.
std::uint32_t tailOf(const MapJob& job);

} // namespace lockstep
