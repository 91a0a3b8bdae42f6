// From a point of the plane to a network's training, and from its end to the one number that is shown: the
// same for all machines. Inside engine/train only.
#pragma once

#include "engine/grid/trainability.h"

namespace lockstep {

shared::TrainabilityStart startOf(const TrainabilityJob& job, TrainabilityPoint point);

TrainabilityOutcome outcomeOf(const TrainabilityJob& job, const shared::TrainabilityEnd& end);

/// Of the last steps, how many there are.
std::uint32_t tailOf(const TrainabilityJob& job);

} // namespace lockstep
