// picture[y][x] = the colour of a network's answer at the centre of a cell of the plane (plane_answer.glsl). Member k has the
// tile of cells * cells pixels in column k % columns, line k / columns. An invocation computes four neighbouring cells of a
// line, for which it reads the network once.
// x: fours of cells, y: lines of cells, z: networks.
// Small networks have everything in registers and every loop unrolled; larger ones define LOOPED (population_answers.glsl).
#include "params.h"
#include "population.h"

layout(local_size_x_id = 0, local_size_y_id = 5) in;
layout(constant_id = 1) const uint loss = 0;
layout(push_constant) uniform Params { PopulationPictureParams params; };

layout(set = 0, binding = 1) readonly buffer Networks { PopulationNetwork networks[]; };
layout(set = 0, binding = 2) readonly buffer Colours { uint colours[]; };
layout(set = 0, binding = 3) writeonly buffer Picture { uint picture[]; };

#include "plane_feature.glsl"
#include "population_answers.glsl"

float answerValue(uint at, uint j) { return values[answersAt + j][at]; }
#include "plane_answer.glsl"

void see(uint column, uint line) {
    float y = params.top - (float(line) + 0.5) * params.cell;
    [[unroll]] for (uint k = 0; k < 4; ++k) {
        float x = params.left + (float(column + k) + 0.5) * params.cell;
        [[unroll]] for (uint i = 0; i < inputs; ++i)
            values[i][k] = feature(bitfieldExtract(params.kinds, int(4 * i), 4), x, y);
    }
}

void main() {
    uint column = 4 * gl_GlobalInvocationID.x;
    uint line = gl_GlobalInvocationID.y;
    if (column >= params.cells || line >= params.cells) return;
    uint place = params.first + gl_GlobalInvocationID.z;
    uint member = networks[place].member;
    load(place);
    see(column, line);
    forward();
    uint width = params.columns * params.cells;
    uint at = (member / params.columns * params.cells + line) * width + member % params.columns * params.cells + column;
    [[unroll]] for (uint k = 0; k < 4; ++k)
        if (column + k < params.cells)
            picture[at + k] = packUnorm4x8(answerColour(k, outputs, params.discretise != 0));
}
