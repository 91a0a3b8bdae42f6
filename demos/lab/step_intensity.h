// The arithmetic intensity of a training step's operations.
#pragma once

#include <vector>

namespace lockstep::demos {

struct StepIntensity {
    const char* name; ///< of the operation
    double flopPerByte;
};

/// The operations of the usual network's training step (784-256-128-10, batch 128), each tensor counted once;
/// the first layer is the last one.
std::vector<StepIntensity> stepIntensities();

} // namespace lockstep::demos
