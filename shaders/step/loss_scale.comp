#version 450
#extension GL_GOOGLE_include_directive : require

// Rung half, before the update: have gradients overflowed? An overflow shows in the gradients of a layer's biases, which are
// sums of all its dZ: one that is infinite, or not a number, makes them so. What follows is in loss_scale.glsl; the scale that
// was halved is doubled again after lossScaleGrowth good steps. gradients is the whole arena. One workgroup.
#include "group_sum.glsl"
#include "math.glsl"
#include "params.h"

layout(set = 0, binding = 0) readonly buffer Status { uint failedStep; };
layout(set = 0, binding = 1) readonly buffer Gradients { float gradients[]; };
#define LOSS_SCALE 2
#include "loss_scale.glsl"
#define LAYER_TABLE 3
#include "layer_table.glsl"
layout(push_constant) uniform Params { LossScaleParams params; };

void main() {
    float notFinite = 0.0;
    for (uint layer = 0; layer < params.layers; ++layer)
        for (uint o = gl_LocalInvocationIndex; o < layers[layer].outputs; o += groupSize)
            if (isNotFinite(gradients[layers[layer].bias + o])) notFinite = 1.0;
    bool anyNotFinite = sumOverGroup(notFinite) > 0.0;
    if (gl_LocalInvocationIndex != 0 || failedStep != noStep) return;

    unscale = 1.0 / lossScale;
    overflowed = anyNotFinite ? 1 : 0;
    goodSteps = anyNotFinite ? 0 : goodSteps + 1;
    if (anyNotFinite) {
        skippedSteps += 1;
        lossScale = max(lossScale * 0.5, lossScaleLeast);
    } else if (goodSteps == lossScaleGrowth) {
        lossScale = min(lossScale * 2.0, lossScaleMost);
        goodSteps = 0;
    }
}
