#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// The most that a device can compute with int32 numbers (roof.glsl).
#define NUMBER int
#define MULTIPLY_ADD(sum) sum * factor + summand
#include "roof.glsl"
