#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// Networks of a map of trainability, a network per invocation, a row of weights at a time: for networks so wide that their
// weights do not fit into registers, and that compilers take minutes for when everything is unrolled.
#define OVER_HIDDEN [[dont_unroll]]
#include "trainability.glsl"
