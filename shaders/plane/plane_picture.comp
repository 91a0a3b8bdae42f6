#version 450
#extension GL_GOOGLE_include_directive : require

// picture[y][x] = the colour of the network's answer in the cell of that pixel (plane_answer.glsl).
// outputs [cells * cells][stride], contiguous along a row.
// x, y: cells; an invocation paints all pixels whose upper left corner lies in its cell.
#include "math.glsl"
#include "params.h"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint loss = 0;
layout(constant_id = 2) const uint outputActivation = 0;

layout(set = 0, binding = 0) readonly buffer Outputs { float outputs[]; };
layout(set = 0, binding = 1) readonly buffer Colours { uint colours[]; };
layout(set = 0, binding = 2) writeonly buffer Picture { uint picture[]; };
layout(push_constant) uniform Params { PlanePictureParams params; };

float answerValue(uint at, uint j) { return outputs[at + j]; }
#include "plane_answer.glsl"

// The first pixel of a cell: pixel p belongs to cell p * cells / size.
uint firstPixel(uint cell) { return (cell * params.size + params.cells - 1) / params.cells; }

void main() {
    uvec2 cell = gl_GlobalInvocationID.xy;
    if (cell.x >= params.cells || cell.y >= params.cells) return;
    uint at = (cell.y * params.cells + cell.x) * params.stride;
    uint word = packUnorm4x8(answerColour(at, params.outputs, params.discretise != 0));
    for (uint y = firstPixel(cell.y); y < firstPixel(cell.y + 1); ++y)
        for (uint x = firstPixel(cell.x); x < firstPixel(cell.x + 1); ++x) picture[y * params.size + x] = word;
}
