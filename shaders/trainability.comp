#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// Networks of a map of trainability, a network per invocation, everything unrolled: weights and gradients are in registers.
#define OVER_HIDDEN [[unroll]]
#include "trainability.glsl"
