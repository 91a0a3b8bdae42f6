#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// dZ[l - 1] = (dZ[l] W) * f'(Z[l - 1]), the gradient passed to the layer below.
// dSums [rows][outputStride], weights [outputs][inputStride], saved and dPreviousSums [rows][inputStride]; rows are
// contiguous. `activation` is that of the layer below; `saved` what its derivative is computed from.
// Rung tiled: workgroups share what they load (product_tiled.glsl).
#include "activation.glsl"
#include "dense_constants.glsl"
#include "params.h"

layout(set = 0, binding = 0) readonly buffer DSums { vec4 dSums[]; };
layout(set = 0, binding = 1) readonly buffer Weights { vec4 weights[]; };
layout(set = 0, binding = 2) readonly buffer Saved { float saved[]; };
layout(set = 0, binding = 3) writeonly buffer DPreviousSums { float dPreviousSums[]; };
layout(push_constant) uniform Params { DenseParams params; };

uint productM() { return params.rows; }
uint productN() { return params.inputStride; }
uint productK() { return params.outputStride; }
const bool aAlongK = true;
const bool bAlongK = false;
const bool sumRowsOfA = false;

// dSums is 0 in its padding, so the row of weights taken there does not matter.
vec4 loadA(uint row, uint o) { return dSums[(row * params.outputStride + o) / 4]; }
vec4 loadB(uint o, uint i) {
    return weights[(min(o, params.outputs - 1) * params.inputStride + i) / 4];
}

void store(uint row, uint i, float product) {
    uint at = row * params.inputStride + i;
    dPreviousSums[at] = product * activationDerivative(activation, saved[at]);
}

void storeRowSum(uint m, float sum) {}

#include "product_tiled.glsl"
