#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// The most that a device can compute: multiply-adds in registers, none of which waits for the one before. Nothing is read from
// memory. The sums are written so that no compiler leaves anything out.
#include "params.h"

#define NUMBER float
#define START(n) NUMBER(n)
#define MULTIPLY_ADD(sum) fma(sum, factor, summand)
#define KEPT(total) total

layout(local_size_x_id = denseGroupSize) in;
layout(set = 0, binding = 0) writeonly buffer Sums { float sums[]; };
layout(push_constant) uniform Params { RoofParams params; };

const uint chains = roofOperations / 2 / 8; // independent sums: enough to hide an addition's latency, few enough for registers

void main() {
    NUMBER factor = NUMBER(params.factor);
    NUMBER summand = NUMBER(params.summand);
    NUMBER sum[chains];
    [[unroll]] for (uint i = 0; i < chains; ++i) sum[i] = START(gl_LocalInvocationIndex + i);
    for (uint round = 0; round < params.rounds; ++round)
        [[unroll]] for (uint repeat = 0; repeat < 8; ++repeat)
            [[unroll]] for (uint i = 0; i < chains; ++i) sum[i] = MULTIPLY_ADD(sum[i]);
    NUMBER total = sum[0];
    [[unroll]] for (uint i = 1; i < chains; ++i) total += sum[i];
    sums[gl_GlobalInvocationID.x] = float(KEPT(total));
}
