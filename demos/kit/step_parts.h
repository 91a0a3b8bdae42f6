// Where the time of a single GPU step goes, seen from the host.
#pragma once

#include <cstdint>

#include "engine/gpu/device.h"
#include "engine/run/trainer.h"

namespace lockstep::demos {

/// Seconds of one step that is made by itself and waited for, from the first recorded command until its loss
/// is on the host. Training makes many steps at a time and overlaps these parts; a step by itself cannot.
struct StepParts {
    double recording = 0;  ///< the host writes the step's commands
    double submission = 0; ///< the host hands them over
    double upload = 0;     ///< data go to the device: none, where the data set lies there
    double execution = 0;  ///< the device computes, by its own clock
    double readBack = 0;   ///< the loss comes back
    double waiting = 0;    ///< all else: until the device begins, and until the host learns that it has ended

    double sum() const { return recording + submission + upload + execution + readBack + waiting; }
};

/// The mean over `steps` steps of a trainer on `device`, on which nothing else is to run meanwhile.
StepParts measureStepParts(Trainer& trainer, gpu::Device& device, int steps);

} // namespace lockstep::demos
