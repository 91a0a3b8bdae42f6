#version 450
#extension GL_GOOGLE_include_directive : require

// Training without master weights: w = a number of the format (formats.h) for every updated parameter w: the nearest one or, with
// `stochastic`, one of the two neighbours, the nearer the more likely. Part of the arena, padding included. x: uvec4s.
#include "formats.h"
#include "params.h"
#include "random.h"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint formatNumber = 0;
layout(constant_id = 2) const bool stochastic = false;

layout(set = 0, binding = 0) buffer Parameters { uvec4 parameters[]; };
layout(push_constant) uniform Params { RoundParametersParams params; };

uvec4 roundedFour(uvec4 four, FloatFormat format, uint at) {
    if (!stochastic)
        return uvec4(roundedBits(four.x, format, 0), roundedBits(four.y, format, 0), roundedBits(four.z, format, 0),
                     roundedBits(four.w, format, 0));
    Random4 words =
        roundingWords(params.first + at, params.stepLow, params.stepHigh, params.seedLow, params.seedHigh);
    return uvec4(stochasticallyRoundedBits(four.x, format, 0, words.x),
                 stochasticallyRoundedBits(four.y, format, 0, words.y),
                 stochasticallyRoundedBits(four.z, format, 0, words.z),
                 stochasticallyRoundedBits(four.w, format, 0, words.w));
}

void main() {
    FloatFormat format = floatFormat(formatNumber);
    for (uint at = gl_GlobalInvocationID.x; at < params.count; at += params.invocations)
        parameters[at] = roundedFour(parameters[at], format, at);
}
