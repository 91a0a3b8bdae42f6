#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// The most that a device can compute with fp64 numbers (roof.glsl).
#define NUMBER double
#include "roof.glsl"
