#version 450
#extension GL_GOOGLE_include_directive : require

// sum[i] = number[2i] + number[2i + 1]: one level of a tree, whatever the size of workgroups.
#include "lab.h"

layout(local_size_x_id = labGroupSize) in;
layout(set = 0, binding = 0) readonly buffer Numbers { float number[]; };
layout(set = 0, binding = 1) writeonly buffer Sums { float sum[]; };
layout(push_constant) uniform Params { LabParams params; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < params.items) sum[i] = number[2 * i] + number[2 * i + 1];
}
