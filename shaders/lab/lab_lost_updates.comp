#version 450
#extension GL_GOOGLE_include_directive : require

// counter += 1, `rounds` times in each invocation: plainly, which loses additions, atomically, or in shared memory first.
#include "lab.h"

layout(local_size_x_id = labGroupSize) in;
layout(constant_id = labChoice) const uint way = 0; // 0: plain, 1: atomic, 2: per workgroup, then atomic
// volatile: every round loads and stores. It orders nothing between invocations, so it cures nothing.
layout(set = 0, binding = 0) coherent volatile buffer Counter { uint counter; };
layout(push_constant) uniform Params { LabParams params; };

shared uint groupCounter;

void main() {
    if (way == 0) {
        for (uint round = 0; round < params.rounds; ++round) {
            uint seen = counter; // all invocations that run now see the same value,
            counter = seen + 1;  // and store the same sum: one addition of many arrives
        }
    } else if (way == 1) {
        for (uint round = 0; round < params.rounds; ++round) atomicAdd(counter, 1);
    } else {
        if (gl_LocalInvocationIndex == 0) groupCounter = 0;
        barrier();
        for (uint round = 0; round < params.rounds; ++round) atomicAdd(groupCounter, 1);
        barrier();
        if (gl_LocalInvocationIndex == 0) atomicAdd(counter, groupCounter);
    }
}
