#version 450
#extension GL_GOOGLE_include_directive : require

// All networks together, behind population_rank: counts, steps, and percentiles of the losses. One workgroup: every invocation
// adds up its share of the members, the first one the shares.
#include "population.h"
#include "population_key.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint groupSize = 64;

layout(set = 0, binding = 0) readonly buffer Results { PopulationResult results[]; }; // [member]
layout(set = 0, binding = 1) readonly buffer Keys { uint keys[]; };                   // [member]
layout(set = 0, binding = 2) readonly buffer Ranking { uint ranking[]; };
layout(set = 0, binding = 3) writeonly buffer Totals { PopulationTotals totals; };
layout(push_constant) uniform Params { PopulationSummaryParams params; };

struct Counts {
    uint begun;
    uint finished;
    uint diverged;
    uint stepsLow;
    uint stepsHigh;
};

shared Counts shares[groupSize];

void addSteps(inout Counts counts, uint low, uint high) {
    uint carry;
    counts.stepsLow = uaddCarry(counts.stepsLow, low, carry);
    counts.stepsHigh += high + carry;
}

Counts ownShare() {
    Counts own = Counts(0, 0, 0, 0, 0);
    for (uint member = gl_LocalInvocationIndex; member < params.networks; member += groupSize) {
        uint steps = results[member].steps;
        bool diverged = results[member].diverged != 0;
        own.begun += uint(steps > 0 || diverged);
        own.finished += uint(steps >= params.steps || diverged);
        own.diverged += uint(diverged);
        addSteps(own, steps, 0);
    }
    return own;
}

uint percentile(uint percent, uint begun) {
    if (begun == 0) return notNumberBits;
    return lossBits(keys[ranking[(percent * (begun - 1) + 50) / 100]]);
}

void main() {
    shares[gl_LocalInvocationIndex] = ownShare();
    barrier();
    if (gl_LocalInvocationIndex != 0) return;
    Counts all = shares[0];
    for (uint other = 1; other < groupSize; ++other) {
        Counts share = shares[other];
        all.begun += share.begun;
        all.finished += share.finished;
        all.diverged += share.diverged;
        addSteps(all, share.stepsLow, share.stepsHigh);
    }
    totals = PopulationTotals(all.begun, all.finished, all.diverged, all.stepsLow, all.stepsHigh, percentile(0, all.begun),
                              percentile(5, all.begun), percentile(25, all.begun), percentile(50, all.begun),
                              percentile(75, all.begun), percentile(95, all.begun), percentile(100, all.begun));
}
