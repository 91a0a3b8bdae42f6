// Where the time of a single GPU step goes, seen from the host.
#pragma once

#include <cstdint>

#include "engine/gpu/device.h"
#include "engine/run/trainer.h"

namespace lockstep::demos {

/// Seconds of one step that runs alone and is waited for, from the first recorded command until its loss is
/// on the host. Training submits many steps at a time and overlaps these parts; a single step cannot.
struct StepParts {
    double recording = 0;  ///< the host writes the step's commands
    double submission = 0; ///< the host hands them over
    double upload = 0;     ///< data goes to the device: none if the data set is already there
    double execution = 0;  ///< the device computes, by its own clock
    double readBack = 0;   ///< the loss comes back
    double waiting = 0;    ///< the rest: until the device begins, and until the host learns that it is done

    double sum() const { return recording + submission + upload + execution + readBack + waiting; }
};

/// The mean over `steps` steps of a trainer on `device`. Nothing else may run on that device meanwhile.
StepParts measureStepParts(Trainer& trainer, gpu::Device& device, int steps);

} // namespace lockstep::demos
