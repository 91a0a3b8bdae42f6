// Cooperative matrices: a matrix belongs to a subgroup, its values lie spread over the registers of the invocations. In the words
// of the extension that every compiler knows; engine/gpu/matrix_dialect.h translates the SPIR-V for devices that have only
// VK_KHR_cooperative_matrix. Before any other include: extensions come first.
// Loads and stores count in elements of the array: `stride` of them from one row (in columns: from one column) to the next.
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#pragma use_vulkan_memory_model

#extension GL_NV_cooperative_matrix : require
#define MATRIX_A fcoopmatNV<16, gl_ScopeSubgroup, matrixM, matrixK>
#define MATRIX_B fcoopmatNV<16, gl_ScopeSubgroup, matrixK, matrixN>
#define MATRIX_SUM fcoopmatNV<32, gl_ScopeSubgroup, matrixM, matrixN>
#define LOAD_ROWS(matrix, array, at, stride) coopMatLoadNV(matrix, array, at, stride, false)
#define LOAD_COLUMNS(matrix, array, at, stride) coopMatLoadNV(matrix, array, at, stride, true)
#define STORE_ROWS(matrix, array, at, stride) coopMatStoreNV(matrix, array, at, stride, false)
#define MULTIPLY_ADD(a, b, sum) coopMatMulAddNV(a, b, sum)
