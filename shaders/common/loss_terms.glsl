// Terms of the elementwise losses for output y and target t, `precise` as in math.glsl. Definitions: engine/net/plain_loss.cpp.
#ifndef LOCKSTEP_LOSS_TERMS_GLSL
#define LOCKSTEP_LOSS_TERMS_GLSL
#include "math.glsl"
#include "params.h"

layout(constant_id = 1) const uint loss = 0;

// One term of the loss for output y and target t; not for cross-entropy.
precise float lossTerm(float y, float t) {
    float d = y - t;
    if (loss == lossMeanSquared) return d * d;
    if (loss == lossHuber) return abs(d) < 1.0 ? 0.5 * d * d : abs(d) - 0.5;
    return max(y, 0.0) - y * t + logOnePlus(exponential(-abs(y)));
}

// Derivative of lossTerm with respect to y.
precise float lossTermGradient(float y, float t) {
    float d = y - t;
    if (loss == lossMeanSquared) return 2.0 * d;
    if (loss == lossHuber) return isNotNumber(d) ? d : clamp(d, -1.0, 1.0);
    return sigmoid(y) - t;
}

#endif
