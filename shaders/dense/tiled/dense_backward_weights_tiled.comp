#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// dW = dZ^T X and db = column sums of dZ, the gradients of one layer.
// dSums [rows][outputStride], inputs [rows][inputStride], dWeights [outputs][inputStride]; rows are contiguous.
// Rung tiled: workgroups share what they load (product_tiled.glsl).
#include "dense_constants.glsl"
#include "params.h"

layout(set = 0, binding = 0) readonly buffer DSums { vec4 dSums[]; };
layout(set = 0, binding = 1) readonly buffer Inputs { vec4 inputs[]; };
layout(set = 0, binding = 2) buffer DWeights { float dWeights[]; };
layout(set = 0, binding = 3) buffer DBias { float dBias[]; };
layout(push_constant) uniform Params { DenseParams params; };

uint productM() { return params.outputs; }
uint productN() { return params.inputStride; }
uint productK() { return params.rows; }
const bool aAlongK = false;
const bool bAlongK = false;
const bool sumRowsOfA = true;

vec4 loadA(uint o, uint row) { return dSums[(row * params.outputStride + o) / 4]; }
vec4 loadB(uint row, uint i) { return inputs[(row * params.inputStride + i) / 4]; }

void store(uint o, uint i, float product) {
    uint at = o * params.inputStride + i;
    dWeights[at] = adds ? dWeights[at] + product : product;
}
void storeRowSum(uint o, float sum) { dBias[o] = adds ? dBias[o] + sum : sum; }

#include "product_tiled.glsl"
