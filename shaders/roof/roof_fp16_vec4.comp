#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require

// The most that a device can compute with vectors of four fp16 numbers (roof.glsl).
#define NUMBER f16vec4
#define FOURS
#include "roof.glsl"
