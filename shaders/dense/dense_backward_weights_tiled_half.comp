#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// dW = dZ^T X and db = column sums of dZ, the gradients of one layer.
// Rung half: dSums and inputs are halves, the gradients floats, sums are taken in floats. Workgroups share what they load, as
// in rung tiled (product_tiled.glsl).
#define HALVES
#define QUADS
#include "params.h"
#include "store_gradients.glsl"
#include "dense_backward_weights_vec4.glsl"
#include "product_tiled.glsl"
