#version 450
#extension GL_GOOGLE_include_directive : require

// The batch's mean loss, and dZ of the output layer.
//   cross-entropy  loss = log(sum_j exp(z_j)) - z_c    dz_j = softmax(z)_j - [j = c]
//   the others     as in loss.glsl                     dz = dL/dy * f'(z)
// each times `scale`; where outputs, saved and dSums are halves, dz also times lossScale (loss_scale.glsl).
// outputs, saved, dSums [rows][stride], contiguous along a row; targets [rows][targetWidth]. One invocation per row for
// its loss; then all of the workgroup write its rows' gradients, four neighbours each. The workgroup's sum of losses goes to
// partials[group], or, when it is the only one, straight into the ring of losses.
#include "activation.glsl"
#include "group_sum.glsl"
#include "half.glsl"
#include "loss_ring.glsl"
#define LOSS_SCALE 7
#include "loss_scale.glsl"
#include "params.h"

layout(constant_id = 2) const uint activation = 0;
layout(constant_id = 3) const bool halves = false;

layout(set = 0, binding = 2) readonly buffer Outputs { float outputs[]; };
layout(set = 0, binding = 2) readonly buffer HalfOutputs { uint halfOutputs[]; };
layout(set = 0, binding = 3) readonly buffer Saved { float saved[]; };
layout(set = 0, binding = 3) readonly buffer HalfSaved { uint halfSaved[]; };
layout(set = 0, binding = 4) readonly buffer Targets { uint targets[]; };
layout(set = 0, binding = 5) writeonly buffer DSums { vec4 dSums[]; };
layout(set = 0, binding = 5) writeonly buffer HalfDSums { uvec2 halfDSums[]; };
layout(set = 0, binding = 6) writeonly buffer Partials { float partials[]; };
layout(push_constant) uniform Params { LossParams params; };

float outputValue(uint at) { return halves ? unpackHalf2x16(halfOutputs[at / 2])[at % 2] : outputs[at]; }
float savedValue(uint at) { return halves ? unpackHalf2x16(halfSaved[at / 2])[at % 2] : saved[at]; }
uint targetWord(uint at) { return targets[at]; }
#include "loss.glsl"

shared Softmax softmaxes[groupSize];

void writeGradients() {
    float scale = halves ? params.scale * lossScale : params.scale;
    uint fours = params.stride / 4; // of a row
    for (uint quad = gl_LocalInvocationIndex; quad < groupSize * fours; quad += groupSize) {
        uint row = gl_WorkGroupID.x * groupSize + quad / fours;
        if (row >= params.rows) break;
        uint at = row * params.stride;
        uint j = quad % fours * 4;
        vec4 four = vec4(0.0);
        for (uint i = 0; i < min(4, params.outputs - j); ++i) {
            float derivative = activationDerivative(activation, savedValue(at + j + i));
            four[i] = outputGradient(at, row, j + i, softmaxes[quad / fours], derivative) * scale;
        }
        if (halves)
            halfDSums[(at + j) / 4] = packFour(four);
        else
            dSums[(at + j) / 4] = four;
    }
}

void main() {
    uint row = gl_GlobalInvocationID.x;
    float lossOfRow = 0.0;
    if (row < params.rows) {
        Softmax s = softmaxIfNeeded(row * params.stride);
        lossOfRow = rowLoss(row * params.stride, row, s);
        softmaxes[gl_LocalInvocationIndex] = s;
    }
    float sum = sumOverGroup(lossOfRow); // its barrier makes all softmaxes visible
    writeGradients();
    if (gl_LocalInvocationIndex != 0) return;
    if (params.groups > 1)
        partials[gl_WorkGroupID.x] = sum;
    else
        noteLoss(sum * params.scale, params.step, params.slot);
}
