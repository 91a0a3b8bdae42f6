// Cooperative matrices in the words of whichever extension the compiler knows, the common one first: a matrix belongs to a
// subgroup, its values lie spread over the registers of the invocations. Before any other include: extensions come first.
// Loads and stores count in elements of the array: `stride` of them from one row (in columns: from one column) to the next.
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#pragma use_vulkan_memory_model

#ifdef GL_KHR_cooperative_matrix
#extension GL_KHR_cooperative_matrix : require
#define MATRIX_A coopmat<float16_t, gl_ScopeSubgroup, matrixM, matrixK, gl_MatrixUseA>
#define MATRIX_B coopmat<float16_t, gl_ScopeSubgroup, matrixK, matrixN, gl_MatrixUseB>
#define MATRIX_SUM coopmat<float, gl_ScopeSubgroup, matrixM, matrixN, gl_MatrixUseAccumulator>
#define LOAD_ROWS(matrix, array, at, stride) coopMatLoad(matrix, array, at, stride, gl_CooperativeMatrixLayoutRowMajor)
#define LOAD_COLUMNS(matrix, array, at, stride) coopMatLoad(matrix, array, at, stride, gl_CooperativeMatrixLayoutColumnMajor)
#define STORE_ROWS(matrix, array, at, stride) coopMatStore(matrix, array, at, stride, gl_CooperativeMatrixLayoutRowMajor)
#define MULTIPLY_ADD(a, b, sum) coopMatMulAdd(a, b, sum)
#else
#extension GL_NV_cooperative_matrix : require
#define MATRIX_A fcoopmatNV<16, gl_ScopeSubgroup, matrixM, matrixK>
#define MATRIX_B fcoopmatNV<16, gl_ScopeSubgroup, matrixK, matrixN>
#define MATRIX_SUM fcoopmatNV<32, gl_ScopeSubgroup, matrixM, matrixN>
#define LOAD_ROWS(matrix, array, at, stride) coopMatLoadNV(matrix, array, at, stride, false)
#define LOAD_COLUMNS(matrix, array, at, stride) coopMatLoadNV(matrix, array, at, stride, true)
#define STORE_ROWS(matrix, array, at, stride) coopMatStoreNV(matrix, array, at, stride, false)
#define MULTIPLY_ADD(a, b, sum) coopMatMulAddNV(a, b, sum)
#endif
