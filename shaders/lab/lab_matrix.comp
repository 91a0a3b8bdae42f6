#version 450
#extension GL_GOOGLE_include_directive : require

// element[n] = a whole number from -4 to 3 that depends on n and on the matrix (knob 0 or 1), for n below `first`: sums of their
// products are exact in fp32, in whatever order they are added. Each invocation writes up to `rounds` elements.
#include "lab.h"

layout(local_size_x_id = labGroupSize) in;
layout(set = 0, binding = 0) writeonly buffer Elements { float element[]; };
layout(push_constant) uniform Params { LabParams params; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= params.items) return;
    for (uint n = i; n < params.first; n += params.items)
        element[n] = float(int(labScatter(2 * n + params.knob, 0xffffffffu) >> 29u) - 4);
}
