#include "math.glsl"
#include "params.h"

// Where a step's loss is noted: in a ring that the host can read, and, when it is not finite, in a status that stops all
// further updates.
layout(set = 0, binding = 0) writeonly buffer Losses { float losses[]; };
layout(set = 0, binding = 1) buffer Status { uint failedStep; }; // noStep, or the first step whose loss was not finite

void noteLoss(float value, uint step, uint slot) {
    losses[slot] = value;
    if (isNotFinite(value) && failedStep == noStep) failedStep = step;
}
