#version 450
#extension GL_GOOGLE_include_directive : require

// outputs[y][x][k] = sum over r, s, c of inputs[y + r - 1][x + s - 1][c] weights[r][s][c][k]: a convolution with 3x3 filters, as the
// formula is written. `first` rows and columns, `rounds` channels, `knob` filters; beyond the edges, inputs are 0. One invocation per
// output: x and k along the dispatch's x (`items` of them), y along its y. Neighbours are filters of one pixel, so they read the same
// inputs, and weights side by side.
#include "lab.h"

layout(local_size_x_id = labGroupSize) in;
layout(set = 0, binding = 0) readonly buffer Inputs { float inputs[]; };
layout(set = 0, binding = 1) readonly buffer Weights { float weights[]; };
layout(set = 0, binding = 2) writeonly buffer Outputs { float outputs[]; };
layout(push_constant) uniform Params { LabParams params; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= params.items) return;
    uint y = gl_GlobalInvocationID.y;
    uint x = i / params.knob;
    uint k = i % params.knob;
    float sum = 0.0;
    for (uint r = 0; r < 3; ++r)
        for (uint s = 0; s < 3; ++s) {
            uint row = y + r - 1; // left of 0 it wraps, to a number that is far too large
            uint column = x + s - 1;
            if (row >= params.first || column >= params.first) continue;
            uint pixel = (row * params.first + column) * params.rounds;
            uint weight = (3 * r + s) * params.rounds * params.knob + k;
            for (uint c = 0; c < params.rounds; ++c) sum = fma(inputs[pixel + c], weights[weight + c * params.knob], sum);
        }
    outputs[y * params.items + i] = sum;
}
