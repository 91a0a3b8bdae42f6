#version 450
#extension GL_GOOGLE_include_directive : require

// partial[2g], partial[2g + 1] = the sum of the numbers that workgroup g adds, and what rounding took from it. Each of `items`
// invocations adds up to `rounds` of the `knob` numbers, then the workgroup adds up these sums as a tree.
#include "lab.h"

layout(local_size_x_id = labGroupSize) in;
layout(constant_id = labChoice) const uint way = 0; // 0: plain, 1: workgroups in order of arrival, 2: with Kahan's correction
layout(constant_id = labShared) const uint groupSums = 1; // as many as the workgroup has invocations
layout(set = 0, binding = 0) readonly buffer Numbers { float number[]; };
layout(set = 0, binding = 1) coherent buffer Partials { uint partial[]; }; // floats, as bits
layout(push_constant) uniform Params { LabParams params; };

shared vec2 part[groupSums];

// a + b, and all that rounding has taken so far (Kahan 1965; Knuth, The Art of Computer Programming 2, 4.2.2). `precise`: no
// compiler may simplify that to 0.
vec2 plus(vec2 a, vec2 b) {
    precise float sum = a.x + b.x;
    precise float ofB = sum - a.x;
    precise float lost = (a.x - (sum - ofB)) + (b.x - ofB);
    return vec2(sum, way == 2 ? a.y + b.y + lost : 0.0);
}

void main() {
    uint i = gl_LocalInvocationIndex;
    vec2 total = vec2(0.0);
    for (uint round = 0; round < params.rounds; ++round) {
        uint index = round * params.items + gl_GlobalInvocationID.x; // neighbours read neighbouring numbers
        if (index < params.knob) total = plus(total, vec2(number[index], 0.0));
    }
    part[i] = total;
    for (uint workers = groupSums / 2; workers > 0; workers /= 2) {
        barrier(); // what is read below has been written
        if (i < workers) part[i] = plus(part[i], part[i + workers]);
    }
    if (i > 0) return;
    if (way == 1) { // no float atomics are needed: add to what was seen, and retry if somebody else was faster
        uint seen = partial[0];
        uint before;
        do {
            before = seen;
            seen = atomicCompSwap(partial[0], before, floatBitsToUint(uintBitsToFloat(before) + part[0].x));
        } while (seen != before);
        return;
    }
    partial[2 * gl_WorkGroupID.x] = floatBitsToUint(part[0].x);
    partial[2 * gl_WorkGroupID.x + 1] = floatBitsToUint(part[0].y);
}
