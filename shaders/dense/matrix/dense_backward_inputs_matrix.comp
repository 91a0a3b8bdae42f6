#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// dZ[l - 1] = (dZ[l] W) * f'(Z[l - 1]), the gradient passed to the layer below.
// fp16 operands, multiplied tile by tile by the matrix units; sums are fp32.
#include "cooperative_matrix.glsl"
#define HALVES
#define WORDS
#include "dense_backward_inputs_vec4.glsl"
#include "product_matrix.glsl"
