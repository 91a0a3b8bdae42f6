#version 450
#extension GL_GOOGLE_include_directive : require

// largest[slot] = the bits of the largest size among the numbers of `from`, as scaleFor() takes them (formats.h). It was 0
// before. Bits of floats without a sign are in the order of their numbers, so the result does not depend on which workgroup
// comes first. from [rows][stride], of which the first `columns` of each row count. x: uvec4s.
#include "params.h"

layout(local_size_x_id = 0) in;

layout(set = 0, binding = 0) readonly buffer From { uvec4 from[]; };
layout(set = 0, binding = 1) buffer Largest { uint largest[]; };
layout(push_constant) uniform Params { RoundParams params; };

shared uint largestOfGroup;

void main() {
    if (gl_LocalInvocationIndex == 0) largestOfGroup = 0;
    barrier();
    uint own = 0;
    for (uint at = gl_GlobalInvocationID.x; at < params.count; at += params.invocations) {
        uvec4 sizes = from[at] & 0x7FFFFFFFu;
        uint column = at % (params.stride / 4) * 4;
        for (uint i = 0; i < 4; ++i)
            if (column + i < params.columns) own = max(own, sizes[i]);
    }
    atomicMax(largestOfGroup, own);
    barrier();
    if (gl_LocalInvocationIndex == 0) atomicMax(largest[params.slot], largestOfGroup);
}
