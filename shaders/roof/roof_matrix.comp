#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// The most that a device's matrix units can compute with fp16 tiles; sums are fp32 (roof_matrix.glsl).
#include "cooperative_matrix.glsl"
#define OPERAND float
#define SUM float
#include "roof_matrix.glsl"
