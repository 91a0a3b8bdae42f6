#version 450
#extension GL_GOOGLE_include_directive : require

// total += number[first], then number[first + 1], and so on: `rounds` numbers, by a single invocation.
#include "lab.h"

layout(local_size_x_id = labGroupSize) in;
layout(set = 0, binding = 0) readonly buffer Numbers { float number[]; };
layout(set = 0, binding = 1) buffer Total { float total; };
layout(push_constant) uniform Params { LabParams params; };

void main() {
    if (gl_GlobalInvocationID.x > 0) return;
    float sum = total;
    for (uint round = 0; round < params.rounds; ++round) sum += number[params.first + round];
    total = sum;
}
