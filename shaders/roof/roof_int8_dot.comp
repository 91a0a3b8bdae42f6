#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_spirv_intrinsics : require

// The most that a device can compute with dot products of four int8 numbers, packed into an int (roof.glsl).
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019], id = 4450) // OpSDot of packed int8
int dotProduct(int a, int b, spirv_literal int format);
#define NUMBER int
#define MULTIPLY_ADD(sum) sum + dotProduct(sum, factor, 0)
#include "roof.glsl"
