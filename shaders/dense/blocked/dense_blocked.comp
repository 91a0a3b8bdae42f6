#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// A[l + 1] = f(A[l] W^T + b), one dense layer forward.
// Every invocation keeps a block of outputs in registers.
#include "dense_vec4.glsl"
#include "product_blocked.glsl"
