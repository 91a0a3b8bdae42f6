#version 450
#extension GL_GOOGLE_include_directive : require

// Rung half: one optimizer step on all parameters, which stay floats; products read copies of the weights, rounded to halves.
// Arrays as in update.comp; gradients are larger than they should be (loss_scale.glsl). Does nothing once a step's loss was not
// finite, or when gradients have overflowed. x: vec4s.
#include "half.glsl"
#include "params.h"
#include "update.glsl"

layout(local_size_x_id = 0) in;

layout(set = 0, binding = 0) readonly buffer Status { uint failedStep; };
layout(set = 0, binding = 1) readonly buffer Gradients { vec4 gradients[]; };
layout(set = 0, binding = 2) buffer Weights { vec4 weights[]; };
layout(set = 0, binding = 3) buffer State1 { vec4 state1[]; };
layout(set = 0, binding = 4) buffer State2 { vec4 state2[]; };
#define LOSS_SCALE 5
#include "loss_scale.glsl"
#define LAYER_TABLE 6
#include "layer_table.glsl"
layout(set = 0, binding = 7) writeonly buffer HalfWeights { uvec2 halfWeights[]; };
layout(push_constant) uniform Params { UpdateHalfParams params; };

void writeHalves(uint at, vec4 four) {
    uint layer = params.layers - 1;
    while (layers[layer].weights > at * 4) --layer;
    LayerPlace place = layers[layer];
    if (at * 4 < place.bias) halfWeights[(place.halves + at * 4 - place.weights) / 4] = packFour(four);
}

void updateFour(uint at) {
    vec4 first = keepsFirst() ? state1[at] : vec4(0.0);
    vec4 second = keepsSecond() ? state2[at] : vec4(0.0);
    vec4 four = updated(params.update, weights[at], gradients[at] * unscale, first, second);
    weights[at] = four;
    if (keepsFirst()) state1[at] = first;
    if (keepsSecond()) state2[at] = second;
    writeHalves(at, four);
}

void main() {
    if (failedStep != noStep || overflowed != 0) return;
    for (uint at = gl_GlobalInvocationID.x; at * 4 < params.update.count; at += params.update.stride)
        updateFour(at);
}
