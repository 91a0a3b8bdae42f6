#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// dZ[l - 1] = (dZ[l] W) * f'(Z[l - 1]), the gradient passed to the layer below.
// dSums [rows][outputStride], weights [outputs][inputStride], saved and dPreviousSums [rows][inputStride]; rows are
// contiguous. `activation` is that of the layer below; `saved` what its derivative is computed from.
// Rung naive-strided: as naive, but neighbouring invocations compute outputs below one another. What they write lies a
// whole row apart, so no store serves two of them; what they read together and apart has changed places.
#include "activation.glsl"
#include "dense_constants.glsl"
#include "params.h"

layout(set = 0, binding = 0) readonly buffer DSums { float dSums[]; };
layout(set = 0, binding = 1) readonly buffer Weights { float weights[]; };
layout(set = 0, binding = 2) readonly buffer Saved { float saved[]; };
layout(set = 0, binding = 3) writeonly buffer DPreviousSums { float dPreviousSums[]; };
layout(push_constant) uniform Params { DenseParams params; };

// The gradient of one input.
void compute(uint row, uint i) {
    float sum = 0.0;
    for (uint o = 0; o < params.outputs; ++o)
        sum = fma(dSums[row * params.outputStride + o], weights[o * params.inputStride + i], sum);
    uint at = row * params.inputStride + i;
    dPreviousSums[at] = sum * activationDerivative(activation, saved[at]);
}

void main() {
    if (stridedM() < params.rows && stridedN() < params.inputStride) compute(stridedM(), stridedN());
}
