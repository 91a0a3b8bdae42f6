#version 450
#extension GL_GOOGLE_include_directive : require

// seed[l] = turned(l + 1), by one workgroup: what everybody has to wait for (labChoice 0). Then any number of workgroups share
// `items` blocks of work (labChoice 1): sum[w][l] = the sum of turned(seed[l] ^ (b + 1)) over the blocks b = w, w + knob, ...
// of workgroup w of `knob`. turned() is 16 * rounds turns, one after the other.
#include "lab.h"

layout(local_size_x_id = labGroupSize) in;
layout(constant_id = labChoice) const uint everybody = 0;
layout(set = 0, binding = 0) buffer Seeds { uint seed[]; };
layout(set = 0, binding = 1) writeonly buffer Sums { uint sum[]; };
layout(push_constant) uniform Params { LabParams params; };

uint fourTurns(uint value) { return xorshift(xorshift(xorshift(xorshift(value)))); }

// Some devices end a loop after 65,535 rounds, so a round does much.
uint turned(uint value) {
    for (uint round = 0; round < params.rounds; ++round) {
        value = fourTurns(fourTurns(fourTurns(fourTurns(value))));
    }
    return value;
}

void main() {
    uint l = gl_LocalInvocationID.x;
    if (everybody == 0) {
        seed[l] = turned(l + 1);
        return;
    }
    uint total = 0;
    for (uint block = gl_WorkGroupID.x; block < params.items; block += params.knob) total += turned(seed[l] ^ (block + 1));
    sum[gl_GlobalInvocationID.x] = total;
}
