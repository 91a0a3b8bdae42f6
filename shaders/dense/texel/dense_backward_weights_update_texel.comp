#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// dW = dZ^T X and db = column sums of dZ, and the optimizer's step with them: gradients stay in registers.
// As blocked, but operands are read through the texture units.
#define TEXELS
#include "fold_update.glsl"
#include "dense_backward_weights_vec4.glsl"
#include "product_blocked.glsl"
