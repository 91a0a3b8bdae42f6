#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require

// counter += 1, `rounds` times in each invocation: a subgroup adds up its ones in registers, then one invocation adds the sum.
#include "lab.h"

layout(local_size_x_id = labGroupSize) in;
layout(set = 0, binding = 0) buffer Counter { uint counter; };
layout(push_constant) uniform Params { LabParams params; };

void main() {
    for (uint round = 0; round < params.rounds; ++round) {
        uint sum = subgroupAdd(1u);
        if (subgroupElect()) atomicAdd(counter, sum);
    }
}
