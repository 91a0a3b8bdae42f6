#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// dZ[l - 1] = (dZ[l] W) * f'(Z[l - 1]), the gradient passed to the layer below.
// As tiled, but the next slab is loaded while this one is computed, and shared memory is read four numbers at a time.
#include "dense_backward_inputs_vec4.glsl"
#include "product_pipelined.glsl"
