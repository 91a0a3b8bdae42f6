#version 450
#extension GL_GOOGLE_include_directive : require

// The mean loss of a batch from its workgroups' sums: losses[slot] = scale * sum_g partials[g]. One workgroup.
#include "group_sum.glsl"
#include "loss_ring.glsl"
#include "params.h"

layout(set = 0, binding = 2) readonly buffer Partials { float partials[]; };
layout(push_constant) uniform Params { LossSumParams params; };

void main() {
    float sum = 0.0;
    for (uint group = gl_LocalInvocationIndex; group < params.groups; group += groupSize) sum += partials[group];
    sum = sumOverGroup(sum);
    if (gl_LocalInvocationIndex == 0) noteLoss(sum * params.scale, params.step, params.slot);
}
