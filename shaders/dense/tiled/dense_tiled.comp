#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// A[l + 1] = f(A[l] W^T + b), one dense layer forward.
// inputs [rows][inputStride], weights [outputs][inputStride], outputs and sums [rows][outputStride]; rows are contiguous.
// Padding columns of the outputs are written as 0. `sums` is written only for activations whose derivative needs it.
// Rung tiled: workgroups share what they load (product_tiled.glsl).
#include "activation.glsl"
#include "dense_constants.glsl"
#include "params.h"

layout(set = 0, binding = 0) readonly buffer Inputs { vec4 inputs[]; };
layout(set = 0, binding = 1) readonly buffer Weights { vec4 weights[]; };
layout(set = 0, binding = 2) readonly buffer Bias { float bias[]; };
layout(set = 0, binding = 3) writeonly buffer Outputs { float outputs[]; };
layout(set = 0, binding = 4) writeonly buffer Sums { float sums[]; };
layout(push_constant) uniform Params { DenseParams params; };

uint productM() { return params.rows; }
uint productN() { return params.outputStride; }
uint productK() { return params.inputStride; }
const bool aAlongK = true;
const bool bAlongK = true;
const bool sumRowsOfA = false;

vec4 loadA(uint row, uint i) { return inputs[(row * params.inputStride + i) / 4]; }
vec4 loadB(uint i, uint o) { return weights[(min(o, params.outputs - 1) * params.inputStride + i) / 4]; }

void store(uint row, uint o, float product) {
    bool inside = o < params.outputs;
    float sum = inside ? product + bias[o] : 0.0;
    uint at = row * params.outputStride + o;
    outputs[at] = inside ? activate(activation, sum) : 0.0;
    if (derivativeNeedsSum(activation)) sums[at] = sum;
}

void storeRowSum(uint m, float sum) {}

#include "product_tiled.glsl"
