#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_realtime_clock : require

// times[w] = when workgroup w begins and ends, on the device's clock (low and high words of each).
#include "lab_who_ran_where.glsl"

layout(set = 0, binding = 1) writeonly buffer Times { uvec4 times[]; };

void main() {
    uvec2 begin = clockRealtime2x32EXT();
    workOfGroup();
    memoryBarrierBuffer();
    barrier(); // the last invocation has finished
    if (gl_LocalInvocationID.x == 0) times[gl_WorkGroupID.x] = uvec4(begin, clockRealtime2x32EXT());
}
