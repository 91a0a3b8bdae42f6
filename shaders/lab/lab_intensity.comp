#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// total[i] = the sum of the bits of value + perNumber * summand, for `rounds` groups of 8 values that invocation i reads: a number from
// memory goes through perNumber multiply-adds. With labChoice 2, 4 or 8, so many numbers become one first, by OR of their bits: then a
// multiply-add is for several numbers. The eight values of a group are independent, so that none waits for the multiply-add before.
#include "lab.h"

layout(local_size_x_id = labGroupSize) in;
layout(constant_id = labChoice) const uint merged = 1;
layout(constant_id = 3) const uint perNumber = 1;
layout(set = 0, binding = 0) readonly buffer Words { uvec4 word[]; };
layout(set = 0, binding = 1) writeonly buffer Totals { uint total[]; };
layout(push_constant) uniform Params { LabParams params; };

// factor 1 and a summand of 2^-10, which no compiler knows: results are exact, fused or not.
#define STEP a = fma(a, factor, summand), b = fma(b, factor, summand)

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= params.items) return;
    vec4 factor = vec4(uintBitsToFloat(params.knob));
    vec4 summand = vec4(uintBitsToFloat(params.first));
    uint sum = 0;
    for (uint round = 0; round < params.rounds; ++round) {
        uint group = 2 * (round * params.items + i);
        uvec4 p = word[group];
        uvec4 q = word[group + 1];
        if (merged == 1) {
            vec4 a = uintBitsToFloat(p);
            vec4 b = uintBitsToFloat(q);
            for (uint n = 0; n < perNumber / 8; ++n) [[unroll]] for (uint repeat = 0; repeat < 8; ++repeat) STEP;
            for (uint n = 0; n < perNumber % 8; ++n) STEP;
            p = floatBitsToUint(a);
            q = floatBitsToUint(b);
            sum += p.x + p.y + p.z + p.w + q.x + q.y + q.z + q.w;
        } else if (merged == 2) {
            p = floatBitsToUint(fma(uintBitsToFloat(p | q), factor, summand));
            sum += p.x + p.y + p.z + p.w;
        } else if (merged == 4) {
            p |= q;
            p.xy = floatBitsToUint(fma(uintBitsToFloat(p.xy | p.zw), factor.xy, summand.xy));
            sum += p.x + p.y;
        } else {
            p |= q;
            sum += floatBitsToUint(fma(uintBitsToFloat(p.x | p.y | p.z | p.w), factor.x, summand.x));
        }
    }
    total[i] = sum;
}
