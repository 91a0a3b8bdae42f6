#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// A[l + 1] = f(A[l] W^T + b), one dense layer forward.
// As tiled, but the next slab is loaded while this one is computed, and shared memory is read four numbers at a time.
#include "dense_vec4.glsl"
#include "product_pipelined.glsl"
