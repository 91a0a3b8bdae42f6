#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// A[l + 1] = f(A[l] W^T + b), one dense layer forward.
// inputs [rows][inputStride], weights [outputs][inputStride], outputs and sums [rows][outputStride]; rows are contiguous.
// Padding columns of the outputs are written as 0. `sums` is written only for activations whose derivative needs it.
// Rung naive-strided: as naive, but neighbouring invocations compute outputs below one another. What they write lies a
// whole row apart, so no store serves two of them; what they read together and apart has changed places.
#include "activation.glsl"
#include "dense_constants.glsl"
#include "params.h"

layout(set = 0, binding = 0) readonly buffer Inputs { float inputs[]; };
layout(set = 0, binding = 1) readonly buffer Weights { float weights[]; };
layout(set = 0, binding = 2) readonly buffer Bias { float bias[]; };
layout(set = 0, binding = 3) writeonly buffer Outputs { float outputs[]; };
layout(set = 0, binding = 4) writeonly buffer Sums { float sums[]; };
layout(push_constant) uniform Params { DenseParams params; };

// One output, or padding, which is written as 0.
void compute(uint row, uint o) {
    bool inside = o < params.outputs;
    float sum = 0.0;
    if (inside) {
        for (uint i = 0; i < params.inputs; ++i)
            sum = fma(inputs[row * params.inputStride + i], weights[o * params.inputStride + i], sum);
        sum += bias[o];
    }
    uint at = row * params.outputStride + o;
    outputs[at] = inside ? activate(activation, sum) : 0.0;
    if (derivativeNeedsSum(activation)) sums[at] = sum;
}

void main() {
    if (stridedM() < params.rows && stridedN() < params.outputStride) compute(stridedM(), stridedN());
}
