#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// dW = dZ^T X and db = column sums of dZ, the gradients of one layer.
// dSums [rows][outputStride], inputs [rows][inputStride], dWeights [outputs][inputStride]; rows are contiguous.
// Rung naive: one invocation per output, every value loaded from memory each time it is used.
#include "dense_constants.glsl"
#include "params.h"

layout(set = 0, binding = 0) readonly buffer DSums { float dSums[]; };
layout(set = 0, binding = 1) readonly buffer Inputs { float inputs[]; };
layout(set = 0, binding = 2) buffer DWeights { float dWeights[]; };
layout(set = 0, binding = 3) buffer DBias { float dBias[]; };
layout(push_constant) uniform Params { DenseParams params; };

// The gradient of one weight, and of its output's bias with the first one.
void compute(uint o, uint i) {
    float sum = 0.0;
    float biasSum = 0.0;
    for (uint row = 0; row < params.rows; row += 4) { // by four: lavapipe ends loops after 65,535 rounds
        [[unroll]] for (uint r = 0; r < 4; ++r) // unrolled only with a constant beginning
            if (row + r < params.rows) {
                float d = dSums[(row + r) * params.outputStride + o];
                sum = fma(d, inputs[(row + r) * params.inputStride + i], sum);
                biasSum += d;
            }
    }
    uint at = o * params.inputStride + i;
    dWeights[at] = adds ? dWeights[at] + sum : sum;
    if (i == 0) dBias[o] = adds ? dBias[o] + biasSum : biasSum;
}

void main() {
    if (invocationM() < params.outputs && invocationN() < params.inputStride) compute(invocationM(), invocationN());
}
