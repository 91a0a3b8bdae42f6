#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// dW = dZ^T X and db = column sums of dZ, the gradients of one layer.
// fp16 operands, multiplied tile by tile by the matrix units; sums are fp32.
#include "cooperative_matrix.glsl"
#define HALVES
#define WORDS
#include "store_gradients.glsl"
#include "dense_backward_weights_vec4.glsl"
#include "product_matrix.glsl"
