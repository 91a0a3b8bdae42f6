#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_ballot : require

// dW = dZ^T X and db = column sums of dZ, the gradients of one layer.
// As texel, but the invocations of a subgroup load one operand together.
#define TEXELS
#include "store_gradients.glsl"
#include "dense_backward_weights_vec4.glsl"
#include "product_subgroup.glsl"
