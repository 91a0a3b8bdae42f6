#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// A[l + 1] = f(A[l] W^T + b), one dense layer forward.
// Rung matrix: halves as in rung half, multiplied by the units that do nothing but multiply matrices (product_matrix.glsl).
#include "cooperative_matrix.glsl"
#define HALVES
#define WORDS
#include "dense_vec4.glsl"
#include "product_matrix.glsl"
