#version 450
#extension GL_GOOGLE_include_directive : require

// sum[i] = the sum of `rounds` words that invocation i reads, `items` invocations side by side. Neighbours read words that lie
// 2^knob apart, of 2^first in all; each word is read once, whatever the stride. With labChoice 1, neighbours read anywhere.
#include "lab.h"

layout(local_size_x_id = labGroupSize) in;
layout(constant_id = labChoice) const uint scattered = 0;
layout(set = 0, binding = 0) readonly buffer Words { uint word[]; };
layout(set = 0, binding = 1) writeonly buffer Sums { uint sum[]; };
layout(push_constant) uniform Params { LabParams params; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= params.items) return;
    uint last = params.items * params.rounds - 1; // one less than a power of two
    uint total = 0;
    for (uint round = 0; round < params.rounds; ++round) {
        uint n = round * params.items + i; // neighbours have neighbouring n
        total += word[scattered != 0 ? labScatter(n, last) : labStrided(n, params.knob, params.first, last)];
    }
    sum[i] = total;
}
