// dW = dZ^T X and db = column sums of dZ, the gradients of one layer.
// dSums [rows][outputStride], inputs [rows][inputStride], dWeights [outputs][inputStride]; rows are contiguous.
// With FOLD_UPDATE, the weights are updated at once and no gradient is written.
// Operands, results and what is done to them, for the rungs that read vec4s.
#include "dense_constants.glsl"
#include "params.h"

#include "operands.glsl"
OPERAND(0, DSums, dSums)
OPERAND(1, Inputs, inputs)
#ifdef FOLD_UPDATE
#include "fold_update.glsl"
#else
layout(set = 0, binding = 2) writeonly buffer DWeights { vec4 dWeights[]; };
layout(set = 0, binding = 3) writeonly buffer DBias { float dBias[]; };
layout(push_constant) uniform Params { DenseParams params; };
#endif

uint productM() { return params.outputs; }
uint productN() { return params.inputStride; }
uint productK() { return params.rows; }
const bool aAlongK = false;
const bool bAlongK = false;
const bool sumRowsOfA = true;

// Rows beyond the batch count as 0 in A, so what B holds there does not matter.
uint atA(uint o, uint row) {
    return min(row, params.rows - 1) * params.outputStride + min(o, params.outputStride - 4);
}
uint atB(uint row, uint i) {
    return min(row, params.rows - 1) * params.inputStride + min(i, params.inputStride - 4);
}
vec4 loadA(uint o, uint row) {
    vec4 four = FOUR(dSums, atA(o, row) / 4);
    return row < params.rows ? four : vec4(0.0);
}
vec4 loadB(uint row, uint i) { return FOUR(inputs, atB(row, i) / 4); }

#ifdef FOLD_UPDATE
vec4 loadColumns(uint i) { return vec4(learns() ? 1.0 : 0.0); }
void store(uint o, uint i, vec4 product, vec4 learning) {
    if (learning.x != 0.0) updateWeights((o * params.inputStride + i) / 4, product);
}
void storeRowSum(uint o, float sum) {
    if (learns()) updateBias(o, sum);
}
#else
vec4 loadColumns(uint i) { return vec4(0.0); }
void store(uint o, uint i, vec4 product, vec4 unused) { dWeights[(o * params.inputStride + i) / 4] = product; }
void storeRowSum(uint o, float sum) { dBias[o] = sum; }
#endif
void finish(uint o, uint i) {}
