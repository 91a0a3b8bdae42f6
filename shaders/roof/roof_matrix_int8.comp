#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// The most that a device's matrix units can compute with int8 tiles; sums are int32 (roof_matrix.glsl).
#include "cooperative_matrix.glsl"
#extension GL_NV_integer_cooperative_matrix : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#undef MATRIX_A
#undef MATRIX_B
#undef MATRIX_SUM
#define MATRIX_A icoopmatNV<8, gl_ScopeSubgroup, matrixM, matrixK>
#define MATRIX_B icoopmatNV<8, gl_ScopeSubgroup, matrixK, matrixN>
#define MATRIX_SUM icoopmatNV<32, gl_ScopeSubgroup, matrixM, matrixN>
#define OPERAND int8_t
#define SUM int
#include "roof_matrix.glsl"
