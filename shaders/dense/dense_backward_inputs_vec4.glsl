// dZ[l - 1] = (dZ[l] W) * f'(Z[l - 1]), the gradient passed to the layer below.
// dSums [rows][outputStride], weights [outputs][inputStride], saved and dPreviousSums [rows][inputStride]; rows are
// contiguous. `activation` is that of the layer below; `saved` what its derivative is computed from.
// Operands, results and what is done to them, for the rungs that read vec4s.
#include "activation.glsl"
#include "dense_constants.glsl"

#include "operands.glsl"
OPERAND(0, DSums, dSums)
OPERAND(1, Weights, weights)
OPERAND(2, Saved, saved)
layout(set = 0, binding = 3) buffer DPreviousSums { STORED dPreviousSums[]; };
layout(push_constant) uniform Params { DenseParams params; };

uint productM() { return params.rows; }
uint productN() { return params.inputStride; }
uint productK() { return params.outputStride; }
const bool aAlongK = true;
const bool bAlongK = false;
const bool sumRowsOfA = false;

// dSums is 0 in its padding, so the row of weights taken there does not matter.
uint atA(uint row, uint o) { return min(row, params.rows - 1) * params.outputStride + o; }
uint atB(uint o, uint i) {
    return min(o, params.outputs - 1) * params.inputStride + min(i, params.inputStride - 4);
}
vec4 loadA(uint row, uint o) { return FOUR(dSums, atA(row, o) / 4); }
vec4 loadB(uint o, uint i) { return FOUR(weights, atB(o, i) / 4); }
#ifdef WORDS
uvec2 wordsA(uint row, uint o) { return dSums[atA(row, o) / 4]; }
uvec2 wordsB(uint o, uint i) { return weights[atB(o, i) / 4]; }
#endif

vec4 loadColumns(uint i) { return vec4(0.0); }
void store(uint row, uint i, vec4 product, vec4 unused) {
    uint at = (row * params.inputStride + i) / 4;
    if (derivativeIsShort(activation)) {
        vec4 value = FOUR(saved, at);
        [[unroll]] for (uint j = 0; j < 4; ++j) product[j] *= activationDerivative(activation, value[j]);
    }
    dPreviousSums[at] = PACK(product);
}

void finish(uint row, uint i) {
    if (derivativeIsShort(activation)) return;
    uint at = (row * params.inputStride + i) / 4;
    vec4 result = UNPACK(dPreviousSums[at]);
    for (uint j = 0; j < 4; ++j) result[j] *= activationDerivative(activation, FOUR(saved, at)[j]);
    dPreviousSums[at] = PACK(result);
}

void storeRowSum(uint m, float sum) {}
