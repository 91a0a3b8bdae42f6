// A[l + 1] = f(A[l] W^T + b), one dense layer forward.
// inputs [rows][inputStride], weights [outputs][inputStride], outputs and sums [rows][outputStride]; rows are contiguous.
// Padding columns of the outputs are written as 0. `sums` is written only for activations whose derivative needs it.
// Operands, results and what is done to them, for the rungs that read vec4s.
#include "activation.glsl"
#include "dense_constants.glsl"

#include "operands.glsl"
OPERAND(0, Inputs, inputs)
OPERAND(1, Weights, weights)
layout(set = 0, binding = 2) readonly buffer Bias { float bias[]; };
layout(set = 0, binding = 3) buffer Outputs { STORED outputs[]; };
layout(set = 0, binding = 4) writeonly buffer Sums { STORED sums[]; };
layout(push_constant) uniform Params { DenseParams params; };

uint productM() { return params.rows; }
uint productN() { return params.outputStride; }
uint productK() { return params.inputStride; }
const bool aAlongK = true;
const bool bAlongK = true;
const bool sumRowsOfA = false;

uint atA(uint row, uint i) { return min(row, params.rows - 1) * params.inputStride + i; }
uint atB(uint i, uint o) { return min(o, params.outputs - 1) * params.inputStride + i; }
vec4 loadA(uint row, uint i) { return FOUR(inputs, atA(row, i) / 4); }
vec4 loadB(uint i, uint o) { return FOUR(weights, atB(i, o) / 4); }
#ifdef WORDS
uvec2 wordsA(uint row, uint i) { return inputs[atA(row, i) / 4]; }
uvec2 wordsB(uint i, uint o) { return weights[atB(i, o) / 4]; }
#endif

vec4 loadColumns(uint o) {
    vec4 four = vec4(0.0);
    [[unroll]] for (uint j = 0; j < 4; ++j)
        if (o + j < params.outputs) four[j] = bias[o + j];
    return four;
}

// For the four outputs from o on: f of their sums, and 0 in padding columns, whatever f(0) is.
vec4 activated(uint o, vec4 sum) {
    vec4 result = vec4(0.0);
    [[unroll]] for (uint j = 0; j < 4; ++j)
        if (o + j < params.outputs) result[j] = activate(activation, sum[j]);
    return result;
}

// A brief f is applied at once. A lengthy one waits for finish(), which reads the sums back from the outputs.
void store(uint row, uint o, vec4 product, vec4 biases) {
    uint at = (row * params.outputStride + o) / 4;
    vec4 sum = product + biases;
    [[unroll]] for (uint j = 0; j < 4; ++j)
        if (o + j >= params.outputs) sum[j] = 0.0;
    if (activationIsShort(activation) && derivativeNeedsSum(activation)) sums[at] = PACK(sum);
    outputs[at] = PACK(activationIsShort(activation) ? activated(o, sum) : sum);
}

void finish(uint row, uint o) {
    if (activationIsShort(activation)) return;
    uint at = (row * params.outputStride + o) / 4;
    vec4 sum = UNPACK(outputs[at]);
    if (derivativeNeedsSum(activation)) sums[at] = PACK(sum);
    vec4 result = vec4(0.0);
    for (uint j = 0; j < 4; ++j)
        if (o + j < params.outputs) result[j] = activate(activation, sum[j]);
    outputs[at] = PACK(result);
}

void storeRowSum(uint m, float sum) {}
