// The work of a workgroup in lab_who_ran_where: every invocation takes `rounds` rounds, whatever its number. The shared memory is
// as large as the device allows, so that few workgroups fit into a processor.
#include "lab.h"

layout(local_size_x_id = labGroupSize) in;
layout(constant_id = labShared) const uint sharedWords = 64;
layout(set = 0, binding = 0) writeonly buffer Words { uint word[]; };
layout(push_constant) uniform Params { LabParams params; };

shared uint held[sharedWords];

void workOfGroup() {
    uint l = gl_LocalInvocationID.x;
    held[l * (sharedWords / gl_WorkGroupSize.x)] = gl_GlobalInvocationID.x + 1;
    barrier();
    uint value = held[(gl_WorkGroupSize.x - 1 - l) * (sharedWords / gl_WorkGroupSize.x)];
    for (uint round = 0; round < params.rounds; ++round) {
        value = xorshift(xorshift(xorshift(xorshift(value))));
        value = xorshift(xorshift(xorshift(xorshift(value))));
    }
    word[gl_GlobalInvocationID.x] = value;
}
