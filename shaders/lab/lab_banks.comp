#version 450
#extension GL_GOOGLE_include_directive : require

// sum[i] = the sum of `rounds` words that invocation i reads in shared memory. Neighbours read words `knob` apart; from round to
// round, all of them move on by one word.
#include "lab.h"

layout(local_size_x_id = labGroupSize) in;
layout(constant_id = labChoice) const uint padded = 0;    // 1: an unused word after every 32
layout(constant_id = labShared) const uint sharedWords = 2112; // 2,048, and the padding
layout(set = 0, binding = 0) writeonly buffer Sums { uint sum[]; };
layout(push_constant) uniform Params { LabParams params; };

const uint words = 2048; // that are read
shared uint word[sharedWords];

uint placeOf(uint index) { return padded != 0 ? index + index / 32 : index; }

void main() {
    uint i = gl_LocalInvocationIndex;
    for (uint index = i; index < words; index += gl_WorkGroupSize.x) word[placeOf(index)] = xorshift(index + 1);
    barrier();
    uint total = 0;
    uint at = i * params.knob;
    for (uint round = 0; round < params.rounds; ++round) total += word[placeOf((at + round) % words)];
    sum[gl_GlobalInvocationID.x] = total;
}
