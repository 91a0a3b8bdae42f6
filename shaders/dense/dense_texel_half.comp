#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// A[l + 1] = f(A[l] W^T + b), one dense layer forward.
// Rung half: inputs, weights, outputs and sums are halves, sums are taken in floats. The operands are read through the units
// that read pictures, as in rung texel.
#define HALVES
#define TEXELS
#include "dense_vec4.glsl"
#include "product_blocked.glsl"
