// The most that a device's matrix units can compute, as in roof.glsl: tiles in registers, multiplied and added to independent
// tiles. The including shader includes cooperative_matrix.glsl and defines OPERAND and SUM, the types of their numbers.
#include "params.h"

layout(local_size_x_id = denseGroupSize) in;
layout(constant_id = denseSharers) const uint sharers = 32; // invocations of a subgroup
layout(constant_id = denseMatrixM) const uint matrixM = 16; // gpu::MatrixTile
layout(constant_id = denseMatrixN) const uint matrixN = 16;
layout(constant_id = denseMatrixK) const uint matrixK = 16;
layout(set = 0, binding = 0) writeonly buffer Sums { SUM sums[]; };
layout(push_constant) uniform Params { RoofParams params; };

const uint chains = 4; // independent sums, as in roof.glsl

void main() {
    MATRIX_A a = MATRIX_A(OPERAND(params.factor));
    MATRIX_B b = MATRIX_B(OPERAND(params.summand));
    MATRIX_SUM sum[chains];
    [[unroll]] for (uint i = 0; i < chains; ++i) sum[i] = MATRIX_SUM(SUM(i));
    for (uint round = 0; round < params.rounds; ++round)
        [[unroll]] for (uint repeat = 0; repeat < roofMatrixProducts / chains; ++repeat)
            [[unroll]] for (uint i = 0; i < chains; ++i) sum[i] = MULTIPLY_ADD(a, b, sum[i]);
    uint tile = gl_WorkGroupID.x * (gl_WorkGroupSize.x / sharers) + gl_SubgroupID;
    [[unroll]] for (uint i = 0; i < chains; ++i)
        STORE_ROWS(sum[i], sums, (tile * chains + i) * matrixM * matrixN, matrixN);
}
