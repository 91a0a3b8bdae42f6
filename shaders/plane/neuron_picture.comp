#version 450
#extension GL_GOOGLE_include_directive : require

// What every neuron of a layer answers over the plane, a tile per neuron: tile n lies in column n % columns and line
// n / columns of the picture, `top` pixels below its upper edge. A tile is divided by the neuron's largest magnitude where that
// is above 1, so that a strong neuron shows its shape and a weak one stays pale.
// activations [cells * cells][stride], contiguous along a row's neurons. One workgroup per tile.
#include "math.glsl"
#include "params.h"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint groupSize = 64; // a power of two

layout(set = 0, binding = 0) readonly buffer Activations { float activations[]; };
layout(set = 0, binding = 1) readonly buffer Colours { uint colours[]; };
layout(set = 0, binding = 2) writeonly buffer Picture { uint picture[]; };
layout(push_constant) uniform Params { NeuronPictureParams params; };

#include "plane_colour.glsl"

shared float largest[groupSize];

// All invocations of the workgroup have to call it.
float largestMagnitude(uint neuron) {
    uint id = gl_LocalInvocationIndex;
    float own = 0.0;
    for (uint cell = id; cell < params.cells * params.cells; cell += groupSize) {
        float value = activations[cell * params.stride + neuron];
        if (!isNotFinite(value)) own = max(own, abs(value));
    }
    largest[id] = own;
    barrier();
    for (uint width = groupSize / 2; width > 0; width /= 2) {
        if (id < width) largest[id] = max(largest[id], largest[id + width]);
        barrier();
    }
    return largest[0];
}

void main() {
    uint place = gl_WorkGroupID.x;
    bool empty = place >= params.neurons;
    uint neuron = empty ? 0 : place;
    float scale = 1.0 / max(largestMagnitude(neuron), 1.0);
    uint width = params.columns * params.tile;
    uint corner = (params.top + place / params.columns * params.tile) * width + place % params.columns * params.tile;
    for (uint pixel = gl_LocalInvocationIndex; pixel < params.tile * params.tile; pixel += groupSize) {
        uvec2 at = uvec2(pixel % params.tile, pixel / params.tile);
        uvec2 cell = at * params.cells / params.tile;
        float value = activations[(cell.y * params.cells + cell.x) * params.stride + neuron] * scale;
        vec4 shown = empty ? colourAt(colourBackground) : signedColour(value, params.discretise != 0);
        picture[corner + at.y * width + at.x] = packUnorm4x8(shown);
    }
}
