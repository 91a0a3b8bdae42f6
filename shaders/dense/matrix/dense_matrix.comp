#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// A[l + 1] = f(A[l] W^T + b), one dense layer forward.
// fp16 operands, multiplied tile by tile by the matrix units; sums are fp32.
#include "cooperative_matrix.glsl"
#define HALVES
#define WORDS
#include "dense_vec4.glsl"
#include "product_matrix.glsl"
