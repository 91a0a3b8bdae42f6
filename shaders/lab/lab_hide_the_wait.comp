#version 450
#extension GL_GOOGLE_include_directive : require

// end[i] = where chain i arrives after `rounds` loads. Each load says where the next one is, so it has to be there first. The path
// leads through all words in an order that nothing can guess: next[labScatter(k)] = labScatter(k + 1). Of `items` chains, the
// first begins at step `first`, and each of the others `knob` steps further on.
#include "lab.h"

layout(local_size_x_id = labGroupSize) in;
layout(constant_id = 3) const uint last = 0; // word
layout(set = 0, binding = 0) readonly buffer Next { uint next[]; };
layout(set = 0, binding = 1) writeonly buffer Ends { uint end[]; };
layout(push_constant) uniform Params { LabParams params; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= params.items) return;
    uint at = labScatter((params.first + i * params.knob) & last, last);
    for (uint round = 0; round < params.rounds; ++round) at = next[at];
    end[i] = at;
}
