#version 450
#extension GL_GOOGLE_include_directive : require

// picture[y][x] = the colour of the network's answer in the cell of that pixel.
//   one output       its sign and size: a probability p as 2 p - 1, other values as they are, clamped to [-1, 1]
//   several outputs  the classes' colours, mixed by softmax (cross-entropy), by sigmoid (binary cross-entropy) or by the
//                    outputs themselves, clamped to [0, 1]; discretised: the colour of the largest (the first among equals)
// Whatever is not finite has the background's colour. outputs [cells * cells][stride], contiguous along a row.
// x, y: cells; an invocation paints all pixels whose upper left corner lies in its cell.
#include "math.glsl"
#include "params.h"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint loss = 0;
layout(constant_id = 2) const uint activation = 0; // of the output layer

layout(set = 0, binding = 0) readonly buffer Outputs { float outputs[]; };
layout(set = 0, binding = 1) readonly buffer Colours { uint colours[]; };
layout(set = 0, binding = 2) writeonly buffer Picture { uint picture[]; };
layout(push_constant) uniform Params { PlanePictureParams params; };

#include "plane_colour.glsl"

vec4 singleColour(float value) {
    if (loss == lossBinaryCrossEntropy) value = 2.0 * exactSigmoid(value) - 1.0;
    else if (activation == activationSigmoid) value = 2.0 * value - 1.0;
    return signedColour(value, params.discretise != 0);
}

vec4 classColour(uint number) { return colourAt(colourClasses + number % colourClassCount); }

float weightOf(float value, float largest) {
    if (loss == lossCrossEntropy) return exactExp(value - largest);
    if (loss == lossBinaryCrossEntropy) return exactSigmoid(value);
    return clamp(value, 0.0, 1.0);
}

vec4 mixedColour(uint at) {
    uint best = 0;
    float largest = outputs[at];
    bool finite = true;
    for (uint j = 0; j < params.outputs; ++j) {
        float value = outputs[at + j];
        finite = finite && !isNotFinite(value);
        if (value > largest) {
            best = j;
            largest = value;
        }
    }
    if (!finite) return colourAt(colourBackground);
    if (params.discretise != 0) return classColour(best);
    vec4 sum = vec4(0.0);
    float weights = 0.0;
    for (uint j = 0; j < params.outputs; ++j) {
        float weight = weightOf(outputs[at + j], largest);
        sum += weight * classColour(j);
        weights += weight;
    }
    return weights > 0.0 ? sum / weights : colourAt(colourBackground);
}

// The first pixel of a cell: pixel p belongs to cell p * cells / size.
uint firstPixel(uint cell) { return (cell * params.size + params.cells - 1) / params.cells; }

void main() {
    uvec2 cell = gl_GlobalInvocationID.xy;
    if (cell.x >= params.cells || cell.y >= params.cells) return;
    uint at = (cell.y * params.cells + cell.x) * params.stride;
    uint word = packUnorm4x8(params.outputs == 1 ? singleColour(outputs[at]) : mixedColour(at));
    for (uint y = firstPixel(cell.y); y < firstPixel(cell.y + 1); ++y)
        for (uint x = firstPixel(cell.x); x < firstPixel(cell.x + 1); ++x) picture[y * params.size + x] = word;
}
