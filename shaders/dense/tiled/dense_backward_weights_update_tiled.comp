#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// dW = dZ^T X and db = column sums of dZ, the gradients of one layer, and the optimizer's step with them.
// Rung fused: as tiled, and the gradients never leave the registers (fold_update.glsl).
#include "dense_constants.glsl"
#include "params.h"

layout(set = 0, binding = 0) readonly buffer DSums { vec4 dSums[]; };
layout(set = 0, binding = 1) readonly buffer Inputs { vec4 inputs[]; };
#include "fold_update.glsl"

uint productM() { return params.outputs; }
uint productN() { return params.inputStride; }
uint productK() { return params.rows; }
const bool aAlongK = false;
const bool bAlongK = false;
const bool sumRowsOfA = true;

vec4 loadA(uint o, uint row) { return dSums[(row * params.outputStride + o) / 4]; }
vec4 loadB(uint row, uint i) { return inputs[(row * params.inputStride + i) / 4]; }

#include "product_tiled.glsl"
