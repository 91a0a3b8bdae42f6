#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// A[l + 1] = f(A[l] W^T + b), one dense layer forward.
// Rung half: inputs, weights, outputs and sums are halves, sums are taken in floats. Workgroups share what they load, as in
// rung tiled (product_tiled.glsl).
#define HALVES
#define QUADS
#include "dense_vec4.glsl"
#include "product_tiled.glsl"
