#version 450
#extension GL_GOOGLE_include_directive : require

// Mixed precision, emulated: `to` = the numbers of `from`, each rounded to the nearest one of a format (formats.h); in place, or a
// copy. With `scaled`, the format's numbers are divided by the largest power of two with which the tensor's largest number,
// largest[slot], is still in their range. Both [rows][stride], contiguous; padding is rounded, too. x: uvec4s.
#include "formats.h"
#include "params.h"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint formatNumber = 0;
layout(constant_id = 2) const bool scaled = false;

layout(set = 0, binding = 0) readonly buffer From { uvec4 from[]; };
layout(set = 0, binding = 1) writeonly buffer To { uvec4 to[]; };
layout(set = 0, binding = 2) readonly buffer Largest { uint largest[]; };
layout(push_constant) uniform Params { RoundParams params; };

void main() {
    FloatFormat format = floatFormat(formatNumber);
    int scale = scaled ? scaleFor(largest[params.slot], format, params.mostScale) : 0;
    for (uint at = gl_GlobalInvocationID.x; at < params.count; at += params.invocations) {
        uvec4 four = from[at];
        to[at] = uvec4(roundedBits(four.x, format, scale), roundedBits(four.y, format, scale),
                       roundedBits(four.z, format, scale), roundedBits(four.w, format, scale));
    }
}
