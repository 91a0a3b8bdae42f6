#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// The most that a device can compute with vectors of four fp32 numbers (roof.glsl).
#define NUMBER vec4
#define FOURS
#include "roof.glsl"
