#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// The most that a device can compute with vectors of four int32 numbers (roof.glsl).
#define NUMBER ivec4
#define FOURS
#define MULTIPLY_ADD(sum) sum * factor + summand
#define KEPT(total) (total.x ^ total.y ^ total.z ^ total.w)
#include "roof.glsl"
