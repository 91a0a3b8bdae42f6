# The shaders that differ from each other in a few words: one table instead of a file each. CMake writes their texts when it
# configures the build; from there on they are files like any other. glslc compiles them, and the program shows them, compares
# them line by line and lets its user edit them.

# The dense products: what each computes, where its operands and results are defined, and whether the optimizer's step is
# folded into it.
#                       stem                            formula, and the files that define operands and results
lockstep_dense_product(dense                         "A[l + 1] = f(A[l] W^T + b), one dense layer forward."
                       dense_vec4.glsl)
lockstep_dense_product(dense_backward_inputs         "dZ[l - 1] = (dZ[l] W) * f'(Z[l - 1]), the gradient passed to the layer below."
                       dense_backward_inputs_vec4.glsl)
lockstep_dense_product(dense_backward_weights        "dW = dZ^T X and db = column sums of dZ, the gradients of one layer."
                       store_gradients.glsl dense_backward_weights_vec4.glsl)
lockstep_dense_product(dense_backward_weights_update "dW = dZ^T X and db = column sums of dZ, and the optimizer's step with them: gradients stay in registers."
                       fold_update.glsl dense_backward_weights_vec4.glsl)

# The rungs: for each, one shader of every product; with FOLDS, one that folds the optimizer's step in, too.
lockstep_dense_rung(pipelined "As tiled, but the next slab is loaded while this one is computed, and shared memory is read four numbers at a time."
                    FOLDS PRODUCT product_pipelined.glsl)
lockstep_dense_rung(blocked "Every invocation keeps a block of outputs in registers."
                    FOLDS PRODUCT product_blocked.glsl)
lockstep_dense_rung(texel "As blocked, but operands are read through the texture units."
                    FOLDS DEFINE TEXELS PRODUCT product_blocked.glsl)
lockstep_dense_rung(subgroup "As texel, but the invocations of a subgroup load one operand together."
                    DEFINE TEXELS PRODUCT product_subgroup.glsl EXTENSION GL_KHR_shader_subgroup_ballot)
lockstep_dense_rung(tiled_half "As tiled, but operands are fp16; sums are fp32."
                    DEFINE HALVES QUADS PRODUCT product_tiled.glsl)
lockstep_dense_rung(texel_half "As texel, but operands are fp16; sums are fp32."
                    DEFINE HALVES TEXELS PRODUCT product_blocked.glsl)
lockstep_dense_rung(matrix "fp16 operands, multiplied tile by tile by the matrix units; sums are fp32."
                    DEFINE HALVES WORDS PRODUCT product_matrix.glsl FIRST cooperative_matrix.glsl)

# Shaders that are another one's text with some words replaced.
foreach(product IN ITEMS dense dense_backward_inputs dense_backward_weights)
  lockstep_shader_copy(${product}_naive_strided FROM dense/${product}_naive.comp
    REPLACE "// Rung naive: one invocation per output, every value loaded from memory each time it is used."
            "// Rung naive-strided: as naive, but neighbouring invocations compute outputs below one another. What they read and write\n// lies a whole row apart, so no memory access serves two of them."
            invocationN stridedN invocationM stridedM)
endforeach()
#                 product                 rows and columns of its results
function(lockstep_dense_one product rows columns)
  lockstep_shader_copy(${product}_one FROM dense/${product}_naive.comp
    REPLACE "// Rung naive: one invocation per output, every value loaded from memory each time it is used."
            "// Rung one: a single invocation computes outputs [first, first + count), one after the other, as one core of a CPU would."
            "    if (invocationM() < params.${rows} && invocationN() < params.${columns}) compute(invocationM(), invocationN());"
            "    for (uint at = params.first; at < params.first + params.count; ++at)\n        compute(at / params.${columns}, at % params.${columns});")
endfunction()
lockstep_dense_one(dense                  rows outputStride)
lockstep_dense_one(dense_backward_inputs  rows inputStride)
lockstep_dense_one(dense_backward_weights outputs inputStride)
lockstep_shader_copy(dense_backward_weights_update_tiled FROM dense/dense_backward_weights_tiled.comp
  REPLACE "the gradients of one layer." "the gradients of one layer, and the optimizer's step with them."
          "// dSums [rows][outputStride], inputs [rows][inputStride], dWeights [outputs][inputStride]; rows are contiguous.\n" ""
          "// Rung tiled: workgroups share what they load (product_tiled.glsl)."
          "// Rung fused: as tiled, and the gradients never leave the registers (fold_update.glsl)."
          "layout(set = 0, binding = 2) writeonly buffer DWeights { float dWeights[]; };
layout(set = 0, binding = 3) writeonly buffer DBias { float dBias[]; };
layout(push_constant) uniform Params { DenseParams params; };
" "#include \"fold_update.glsl\"
"
          "void store(uint o, uint i, float product) { dWeights[o * params.inputStride + i] = product; }
void storeRowSum(uint o, float sum) { dBias[o] = sum; }

" "")
foreach(kernel IN ITEMS population_score population_picture)
  lockstep_shader_copy(${kernel}_looped FROM grid/${kernel}.comp
    REPLACE "// Small networks: everything in registers, every loop unrolled."
            "// Larger networks: loops, and parameters from their buffer as they are needed.\n#define LOOPED")
endforeach()

lockstep_shader_copy(roof_matrix_int8 FROM dense/roof_matrix.comp
  REPLACE "fp16 tiles in registers, multiplied and added to independent\n// fp32 tiles." "int8 tiles in registers, multiplied and added to\n// independent int32 tiles."
          "#include \"params.h\"" "#extension GL_NV_integer_cooperative_matrix : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#include \"params.h\""
          "MATRIX_A" "icoopmatNV<8, gl_ScopeSubgroup, matrixM, matrixK>"
          "MATRIX_B" "icoopmatNV<8, gl_ScopeSubgroup, matrixK, matrixN>"
          "MATRIX_SUM" "icoopmatNV<32, gl_ScopeSubgroup, matrixM, matrixN>"
          "(params.factor)" "(int8_t(params.factor))"
          "(params.summand)" "(int8_t(params.summand))"
          "float(i)" "int(i)"
          "float sums[]" "int sums[]")

# The roof in other types (demos/card): what one number is, how sums grow, and what of them is kept.
#             type       number    extensions  multiply-add                          kept
function(lockstep_roof type number extensions multiply_add kept)
  set(start "NUMBER(n)")
  if(type MATCHES vec4) # components far apart: as equal ones, or the next sum's, they would be computed once
    set(start "NUMBER(n, (n) + 100, (n) + 200, (n) + 300)")
  endif()
  lockstep_shader_copy(roof_${type} FROM dense/roof.comp
    REPLACE "#include \"params.h\"" "${extensions}#include \"params.h\""
            "#define NUMBER float" "#define NUMBER ${number}"
            "#define START(n) NUMBER(n)" "#define START(n) ${start}"
            "fma(sum, factor, summand)" "${multiply_add}"
            "#define KEPT(total) total" "#define KEPT(total) ${kept}")
endfunction()
set(halves "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n")
set(dots "#extension GL_EXT_spirv_intrinsics : require
spirv_instruction(extensions = [\"SPV_KHR_integer_dot_product\"], capabilities = [6018, 6019], id = 4450) // OpSDot of packed int8
int dotProduct(int a, int b, spirv_literal int format);\n")
lockstep_roof(fp32_vec4  vec4      ""          "fma(sum, factor, summand)"           "dot(total, vec4(1.0))")
lockstep_roof(fp16       float16_t "${halves}" "fma(sum, factor, summand)"           "total")
lockstep_roof(fp16_vec4  f16vec4   "${halves}" "fma(sum, factor, summand)"           "dot(total, f16vec4(1.0))")
lockstep_roof(fp64       double    ""          "fma(sum, factor, summand)"           "total")
lockstep_roof(fp64_vec4  dvec4     ""          "fma(sum, factor, summand)"           "dot(total, dvec4(1.0))")
lockstep_roof(int32      int       ""          "sum * factor + summand"              "total")
lockstep_roof(int32_vec4 ivec4     ""          "sum * factor + summand"              "(total.x ^ total.y ^ total.z ^ total.w)")
lockstep_roof(int8_dot   int       "${dots}"   "sum + dotProduct(sum, factor, 0)"    "total")
