#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// dW = dZ^T X and db = column sums of dZ, the gradients of one layer.
// Rung half: dSums and inputs are halves, the gradients floats, sums are taken in floats. The operands are read through the
// units that read pictures, as in rung texel.
#define HALVES
#define TEXELS
#include "params.h"
#include "store_gradients.glsl"
#include "dense_backward_weights_vec4.glsl"
#include "product_blocked.glsl"
