#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_basic : require

// value[i] = `rounds` turns of the way that invocation i goes, one of `knob`. `first` neighbours go the same way: 1, so that all
// neighbours differ, or a subgroup. subgroups[0]: of how many a workgroup consists in this very shader, because some drivers choose
// another size of subgroups for each.
#include "lab.h"

layout(local_size_x_id = labGroupSize) in;
layout(set = 0, binding = 0) writeonly buffer Values { uint value[]; };
layout(set = 0, binding = 1) writeonly buffer Subgroups { uint subgroups[]; };
layout(push_constant) uniform Params { LabParams params; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i == 0) subgroups[0] = gl_NumSubgroups;
    if (i >= params.items) return;
    uint mine = i / params.first % params.knob;
    uint x = i + 1;
    // A subgroup executes the loop of every way that one of its invocations goes, with the others masked out.
    for (uint way = 0; way < params.knob; ++way)
        if (way == mine)
            for (uint round = 0; round < params.rounds; ++round) x = xorshift(x) + way;
    value[i] = x;
}
