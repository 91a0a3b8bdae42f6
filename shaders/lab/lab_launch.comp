#version 450
#extension GL_GOOGLE_include_directive : require

// word[i] = xorshift applied `rounds` times to word[i]: work that takes `rounds` turns, one after the other, in one dispatch or in
// many. Each dispatch works on a workgroup's words of its own, or on the same ones as the dispatch before.
#include "lab.h"

layout(local_size_x_id = labGroupSize) in;
layout(set = 0, binding = 0) buffer Words { uint word[]; };
layout(push_constant) uniform Params { LabParams params; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= params.items) return;
    uint value = word[i];
    for (uint round = 0; round < params.rounds; ++round) value = xorshift(value);
    word[i] = value;
}
