#version 450
#extension GL_GOOGLE_include_directive : require

// inputs[row] = features of the centre of cell `first + row` of a square grid over the plane, whose rows run from left to
// right and from top to bottom; y grows upwards. inputs [rows][stride], padding columns are written as 0. x: rows.
#include "params.h"
#include "plane_feature.glsl"

layout(local_size_x_id = 0) in;

layout(set = 0, binding = 0) writeonly buffer Inputs { vec4 inputs[]; };
layout(push_constant) uniform Params { PlaneInputsParams params; };

void main() {
    uint row = gl_GlobalInvocationID.x;
    if (row >= params.rows) return;
    uint cell = params.first + row;
    float x = params.left + (float(cell % params.size) + 0.5) * params.cell;
    float y = params.top - (float(cell / params.size) + 0.5) * params.cell;
    for (uint quad = 0; quad * 4 < params.stride; ++quad) {
        vec4 values = vec4(0.0);
        for (uint j = 0; j < 4; ++j)
            if (quad * 4 + j < params.features)
                values[j] = feature(bitfieldExtract(params.kinds, int(16 * quad + 4 * j), 4), x, y);
        inputs[row * (params.stride / 4) + quad] = values;
    }
}
