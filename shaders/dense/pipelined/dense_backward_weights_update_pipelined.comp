#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// dW = dZ^T X and db = column sums of dZ, and the optimizer's step with them: gradients stay in registers.
// As tiled, but the next slab is loaded while this one is computed, and shared memory is read four numbers at a time.
#include "fold_update.glsl"
#include "dense_backward_weights_vec4.glsl"
#include "product_pipelined.glsl"
