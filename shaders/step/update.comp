#version 450
#extension GL_GOOGLE_include_directive : require

// One optimizer step on all parameters. The arrays are whole arenas [count], contiguous; state1 and state2 are what update.glsl
// calls `first` and `second`. Does nothing once a step's loss was not finite. x: vec4s.
#include "params.h"
#include "update.glsl"

layout(local_size_x_id = 0) in;

layout(set = 0, binding = 0) readonly buffer Status { uint failedStep; };
layout(set = 0, binding = 1) readonly buffer Gradients { vec4 gradients[]; };
layout(set = 0, binding = 2) buffer Weights { vec4 weights[]; };
layout(set = 0, binding = 3) buffer State1 { vec4 state1[]; };
layout(set = 0, binding = 4) buffer State2 { vec4 state2[]; };
layout(push_constant) uniform Params { UpdateParams params; };

void updateFour(uint at) {
    vec4 first = keepsFirst() ? state1[at] : vec4(0.0);
    vec4 second = keepsSecond() ? state2[at] : vec4(0.0);
    weights[at] = updated(params, weights[at], gradients[at], first, second);
    if (keepsFirst()) state1[at] = first;
    if (keepsSecond()) state2[at] = second;
}

void main() {
    if (failedStep != noStep) return;
    // A dispatch has at most as many workgroups as the device allows; beyond that, each invocation takes several vec4s.
    for (uint at = gl_GlobalInvocationID.x; at * 4 < params.count; at += params.stride)
        updateFour(at);
}
