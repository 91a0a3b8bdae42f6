#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_arithmetic : require

// Training steps of a population, a network per workgroup that is one subgroup (or a few, where the driver makes them
// smaller). An invocation handles every groupSize-th row of a batch: one example's values and the sums of its rows' gradients
// are private, unrolled, in registers. Parameters and the optimizer's state are shared; subgroupAdd adds up gradients, and
// every groupSize-th parameter is updated by one invocation.
// Buffers [parameter][place]. Workgroups: networks.
#include "population_step.glsl"

layout(constant_id = 5) const uint firstCount = 1;    // parameterCount where the optimizer keeps such a state, else 1
layout(constant_id = 6) const uint mostSubgroups = 1; // of a workgroup
layout(constant_id = 8) const uint secondCount = 1;

shared float w[parameterCount];
shared float first[firstCount];
shared float second[secondCount];
shared float gradientParts[mostSubgroups * parameterCount]; // [subgroup][parameter]
shared float lossParts[mostSubgroups];

#include "population_example.glsl"

void load(uint place) {
    for (uint p = gl_LocalInvocationIndex; p < parameterCount; p += groupSize) {
        w[p] = parameters[p * params.places + place];
        if (keepsFirst()) first[p] = firstState[p * params.places + place];
        if (keepsSecond()) second[p] = secondState[p * params.places + place];
    }
}

void store(uint place, PopulationState state) {
    for (uint p = gl_LocalInvocationIndex; p < parameterCount; p += groupSize) {
        parameters[p * params.places + place] = w[p];
        if (keepsFirst()) firstState[p * params.places + place] = first[p];
        if (keepsSecond()) secondState[p * params.places + place] = second[p];
    }
    if (gl_LocalInvocationIndex == 0) states[place] = state;
}

// Leaves every subgroup's share of the gradients behind. The loss is the same to all invocations.
float learnFrom(uint step, PopulationRecord record, uint place, uint firstExample) {
    barrier(); // parameters were loaded or updated
    [[unroll]] for (uint p = 0; p < parameterCount; ++p) gradients[p] = 0.0;
    float total = 0.0;
    for (uint row = gl_LocalInvocationIndex; row < record.rows; row += groupSize)
        total += learnFromExample(firstExample + exampleOf(step, record, row, place), record.scale);
    barrier(); // those with fewer rows wait: all have to add up together
    total = subgroupAdd(total);
    [[unroll]] for (uint p = 0; p < parameterCount; ++p) gradients[p] = subgroupAdd(gradients[p]);
    if (subgroupElect()) {
        [[unroll]] for (uint p = 0; p < parameterCount; ++p)
            gradientParts[gl_SubgroupID * parameterCount + p] = gradients[p];
        lossParts[gl_SubgroupID] = total;
    }
    barrier();
    total = lossParts[0];
    for (uint subgroup = 1; subgroup < gl_NumSubgroups; ++subgroup) total += lossParts[subgroup];
    return total * record.scale;
}

void update(UpdateParams how, uint place) {
    for (uint p = gl_LocalInvocationIndex; p < parameterCount; p += groupSize) {
        float gradient = gradientParts[p];
        for (uint subgroup = 1; subgroup < gl_NumSubgroups; ++subgroup)
            gradient += gradientParts[subgroup * parameterCount + p];
        float one = keepsFirst() ? first[p] : 0.0;
        float two = keepsSecond() ? second[p] : 0.0;
        w[p] = updated(how, w[p], gradient, one, two);
        if (keepsFirst()) first[p] = one;
        if (keepsSecond()) second[p] = two;
    }
}

void main() { train(params.first + gl_WorkGroupID.x); }
