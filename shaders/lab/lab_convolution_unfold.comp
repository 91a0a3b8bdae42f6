#version 450
#extension GL_GOOGLE_include_directive : require

// unfolded[y][x][r][s][c] = inputs[y + r - 1][x + s - 1][c], and 0 beyond the edges: im2col ("image to column"). Each row of this matrix
// holds all inputs of a pixel's outputs, so that a matrix product does the rest. `first` rows and columns, `rounds` channels, a multiple
// of four. One invocation per four channels: x, r, s and c along the dispatch's x (`items` of them), y along its y.
#include "lab.h"

layout(local_size_x_id = labGroupSize) in;
layout(set = 0, binding = 0) readonly buffer Inputs { vec4 inputs[]; };
layout(set = 0, binding = 1) writeonly buffer Unfolded { vec4 unfolded[]; };
layout(push_constant) uniform Params { LabParams params; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= params.items) return;
    uint y = gl_GlobalInvocationID.y;
    uint fours = params.rounds / 4;
    uint c = i % fours;
    uint tap = i / fours % 9;
    uint row = y + tap / 3 - 1; // left of 0 it wraps, to a number that is far too large
    uint column = i / fours / 9 + tap % 3 - 1;
    bool inside = row < params.first && column < params.first;
    unfolded[y * params.items + i] = inside ? inputs[(row * params.first + column) * fours + c] : vec4(0.0);
}
