#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// dW = dZ^T X and db = column sums of dZ, the gradients of one layer, and the optimizer's step with them.
// Rung fused: as blocked, and the gradients never leave the registers (fold_update.glsl).
#include "params.h"
#include "fold_update.glsl"
#include "dense_backward_weights_vec4.glsl"
#include "product_blocked.glsl"
