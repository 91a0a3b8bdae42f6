// dW = dZ^T X and db = column sums of dZ, the gradients of one layer.
// dSums [rows][outputStride], inputs [rows][inputStride]; rows are contiguous.
// Operands, for the rungs that read vec4s. What becomes of the results, store_gradients.glsl or fold_update.glsl says, which
// the including shader includes before this.
#include "dense_constants.glsl"

#include "operands.glsl"
OPERAND(0, DSums, dSums)
OPERAND(1, Inputs, inputs)
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
#ifdef WORDS
uvec2 wordsA(uint o, uint row) { return dSums[atA(o, row) / 4]; }
uvec2 wordsB(uint row, uint i) { return inputs[atB(row, i) / 4]; }
#endif
