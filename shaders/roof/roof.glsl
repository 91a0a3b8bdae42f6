// The most that a device can compute: multiply-adds in registers, none of which waits for the one before. Nothing is read from
// memory. The sums are written so that no compiler leaves anything out.
//
// The including shader defines NUMBER, the type of a number; FOURS where that is a vector of four; and what differs from the
// words below: START(n), what a sum starts from; MULTIPLY_ADD(sum); KEPT(total), the number that is written.
#include "params.h"

#ifdef FOURS // components far apart: equal ones, or those of the next sum, would be computed once
#define START(n) NUMBER(n, (n) + 100, (n) + 200, (n) + 300)
#else
#define START(n) NUMBER(n)
#endif
#ifndef MULTIPLY_ADD
#define MULTIPLY_ADD(sum) fma(sum, factor, summand)
#endif
#ifndef KEPT
#ifdef FOURS
#define KEPT(total) dot(total, NUMBER(1.0))
#else
#define KEPT(total) total
#endif
#endif

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
