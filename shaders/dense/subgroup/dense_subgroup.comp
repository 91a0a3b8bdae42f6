#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_ballot : require

// A[l + 1] = f(A[l] W^T + b), one dense layer forward.
// As texel, but the invocations of a subgroup load one operand together.
#define TEXELS
#include "dense_vec4.glsl"
#include "product_subgroup.glsl"
