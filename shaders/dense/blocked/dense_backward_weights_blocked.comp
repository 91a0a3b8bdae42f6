#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// dW = dZ^T X and db = column sums of dZ, the gradients of one layer.
// Every invocation keeps a block of outputs in registers.
#include "store_gradients.glsl"
#include "dense_backward_weights_vec4.glsl"
#include "product_blocked.glsl"
