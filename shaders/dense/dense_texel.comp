#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// A[l + 1] = f(A[l] W^T + b), one dense layer forward.
// Rung texel: as blocked, and the operands are read through the units that read pictures.
#define TEXELS
#include "dense_vec4.glsl"
#include "product_blocked.glsl"
