#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// A[0][row] = the example at position first + row of the epoch's order, and its target.
// source [count][sourceStride] is contiguous along an example's values: bytes (pixel / 255 is what the network sees), 16 to a
// uvec4, or floats, 4 to a uvec4. inputs [rows][stride], of floats or of halves; targets [rows][targetWidth].
// x: uvec4s of the source, y: rows.
#include "half.glsl"
#include "params.h"

layout(local_size_x_id = 0, local_size_y_id = 1) in;
layout(constant_id = 2) const bool pixels = true;
layout(constant_id = 3) const bool halves = false;

layout(set = 0, binding = 0) readonly buffer Source { uvec4 source[]; };
layout(set = 0, binding = 1) readonly buffer Answers { uint answers[]; };
layout(set = 0, binding = 2) writeonly buffer Inputs { vec4 inputs[]; };
layout(set = 0, binding = 2) writeonly buffer HalfInputs { uvec2 halfInputs[]; };
layout(set = 0, binding = 3) writeonly buffer Targets { uint targets[]; };
layout(push_constant) uniform Params { GatherBatchParams params; };

vec4 unpackPixels(uint word) {
    return vec4(bitfieldExtract(word, 0, 8), bitfieldExtract(word, 8, 8), bitfieldExtract(word, 16, 8),
                bitfieldExtract(word, 24, 8)) *
           (1.0 / 255.0);
}

void writeInputs(uint at, vec4 four) {
    if (halves)
        halfInputs[at] = packFour(four);
    else
        inputs[at] = four;
}

void main() {
    uint chunk = gl_GlobalInvocationID.x;
    uint row = gl_GlobalInvocationID.y;
    if (row >= params.rows || chunk * 4 >= params.sourceStride) return;
    uint position = params.first + row;
    uint example = params.shuffle != 0 ? orderIndex(position, params.count, params.keys) : position;
    uvec4 words = source[(example * params.sourceStride) / 4 + chunk];
    uint quad = row * params.stride / 4;
    if (pixels) {
        [[unroll]] for (uint j = 0; j < 4; ++j)
            if (chunk * 16 + j * 4 < params.stride) writeInputs(quad + chunk * 4 + j, unpackPixels(words[j]));
    } else {
        writeInputs(quad + chunk, uintBitsToFloat(words));
    }
    if (chunk == 0)
        for (uint t = 0; t < params.targetWidth; ++t)
            targets[row * params.targetWidth + t] = answers[example * params.targetWidth + t];
}
