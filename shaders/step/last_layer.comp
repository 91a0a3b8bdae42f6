#version 450
#extension GL_GOOGLE_include_directive : require

// The last layer l forward, the batch's mean loss, and its gradient passed to the layer below, in one dispatch:
//   A[l + 1] = f(Z[l]), Z[l] = A[l] W^T + b    loss and dZ[l] as in loss_and_gradient.comp    dZ[l - 1] = (dZ[l] W) * f'(Z[l - 1])
// Numbers are those of dense, loss_and_gradient, loss_sum and dense_backward_inputs bit for bit: sums are added in their order.
// inputs, saved, dPreviousSums [rows][inputStride], weights [outputs][inputStride], outputs, sums, dSums [rows][outputStride].
//
// A workgroup takes eight rows, which lie 16 apart: then it can begin the sum over 128 rows as group_sum.glsl would. The
// workgroup that finishes last adds up what all have left in partials.
#include "activation.glsl"
#include "group_sum.glsl"
#include "loss_ring.glsl"
#include "params.h"

layout(constant_id = 2) const uint activation = 0;
layout(constant_id = 3) const uint activationBelow = 0;
layout(constant_id = 4) const uint inputFours = 1;   // inputStride / 4
layout(constant_id = 5) const uint outputStride = 4;

layout(set = 0, binding = 2) readonly buffer Inputs { vec4 inputs[]; };
layout(set = 0, binding = 3) readonly buffer Weights { vec4 weights[]; };
layout(set = 0, binding = 4) readonly buffer Bias { float bias[]; };
layout(set = 0, binding = 5) readonly buffer Targets { uint targets[]; };
layout(set = 0, binding = 6) readonly buffer Saved { vec4 saved[]; };
layout(set = 0, binding = 7) writeonly buffer Outputs { float outputs[]; };
layout(set = 0, binding = 8) writeonly buffer Sums { float sums[]; };
layout(set = 0, binding = 9) writeonly buffer DSums { float dSums[]; };
layout(set = 0, binding = 10) writeonly buffer DPreviousSums { vec4 dPreviousSums[]; };
layout(set = 0, binding = 11) coherent buffer Partials {
    uint finished; // workgroups; 0 between dispatches
    float partials[];
};
layout(push_constant) uniform Params { LossParams params; };

const uint rowsPerGroup = lastLayerRows;
const uint groupsPerBlock = 128 / rowsPerGroup;

shared vec4 a[rowsPerGroup * inputFours];
shared float y[rowsPerGroup * outputStride];
shared float z[rowsPerGroup * outputStride];
shared float dz[rowsPerGroup * outputStride];
shared float rowLosses[rowsPerGroup];
shared uint isLast; // whether this workgroup finishes last

shared float powers[rowsPerGroup * outputStride]; // exp(y - the row's largest), for cross-entropy

float outputValue(uint at) { return y[at]; }
uint targetWord(uint at) { return targets[at]; }
float keptPower(uint at, float largest) { return powers[at]; }
#define outputPower keptPower
#include "loss.glsl"

shared Softmax softmaxes[rowsPerGroup];

uint rowOf(uint j) {
    return gl_WorkGroupID.x / groupsPerBlock * 128 + gl_WorkGroupID.x % groupsPerBlock + groupsPerBlock * j;
}

void loadInputs() {
    for (uint at = gl_LocalInvocationIndex; at < rowsPerGroup * inputFours; at += groupSize) {
        uint row = rowOf(at / inputFours);
        a[at] = row < params.rows ? inputs[row * inputFours + at % inputFours] : vec4(0.0);
    }
}

// One invocation per output, as in dense_naive.comp.
void forward() {
    for (uint at = gl_LocalInvocationIndex; at < rowsPerGroup * outputStride; at += groupSize) {
        uint j = at / outputStride;
        uint o = at % outputStride;
        float sum = 0.0;
        if (o < params.outputs) {
            for (uint k = 0; k < inputFours; ++k) {
                vec4 x = a[j * inputFours + k];
                vec4 w = weights[o * inputFours + k];
                sum = fma(x.w, w.w, fma(x.z, w.z, fma(x.y, w.y, fma(x.x, w.x, sum))));
            }
            sum += bias[o];
        }
        z[at] = sum;
        y[at] = o < params.outputs ? activate(activation, sum) : 0.0;
        if (rowOf(j) >= params.rows) continue;
        outputs[rowOf(j) * outputStride + o] = y[at];
        if (derivativeNeedsSum(activation)) sums[rowOf(j) * outputStride + o] = sum;
    }
}

// One invocation per output: a row's one would take them in turn, while all others wait.
void computePowers() {
    for (uint at = gl_LocalInvocationIndex; at < rowsPerGroup * outputStride; at += groupSize)
        if (at % outputStride < params.outputs)
            powers[at] = powerOf(y[at], largestOutput(at / outputStride * outputStride));
}

// One invocation per row.
void lossOfRow(uint j) {
    uint at = j * outputStride;
    rowLosses[j] = 0.0;
    if (rowOf(j) >= params.rows) return;
    softmaxes[j] = softmaxIfNeeded(at);
    rowLosses[j] = rowLoss(at, rowOf(j), softmaxes[j]);
}

// One invocation per output.
void gradients() {
    for (uint at = gl_LocalInvocationIndex; at < rowsPerGroup * outputStride; at += groupSize) {
        uint j = at / outputStride;
        uint o = at % outputStride;
        bool inside = rowOf(j) < params.rows;
        float gradient = 0.0;
        if (inside && o < params.outputs) {
            float derivative = activationDerivative(activation, derivativeNeedsSum(activation) ? z[at] : y[at]);
            gradient =
                outputGradient(j * outputStride, rowOf(j), o, softmaxes[j], derivative) * params.scale;
        }
        dz[at] = gradient;
        if (inside) dSums[rowOf(j) * outputStride + o] = gradient;
    }
}

void backwardInputs() {
    for (uint at = gl_LocalInvocationIndex; at < rowsPerGroup * inputFours; at += groupSize) {
        uint j = at / inputFours;
        uint i = at % inputFours;
        if (rowOf(j) >= params.rows) continue;
        vec4 sum = vec4(0.0);
        for (uint o = 0; o < params.outputs; ++o)
            sum = fma(vec4(dz[j * outputStride + o]), weights[o * inputFours + i], sum);
        vec4 value = saved[rowOf(j) * inputFours + i];
        for (uint n = 0; n < 4; ++n) sum[n] *= activationDerivative(activationBelow, value[n]);
        dPreviousSums[rowOf(j) * inputFours + i] = sum;
    }
}

// The last steps of sumOverGroup() of 128 rows: their workgroups have done the first ones.
float sumOfBlock(uint block) {
    float part[groupsPerBlock];
    for (uint group = 0; group < groupsPerBlock; ++group) part[group] = partials[block * groupsPerBlock + group];
    for (uint width = groupsPerBlock / 2; width > 0; width /= 2)
        for (uint group = 0; group < width; ++group) part[group] += part[group + width];
    return part[0];
}

// As in loss_sum.comp.
void meanLoss() {
    float sum = 0.0;
    for (uint block = gl_LocalInvocationIndex; block < params.groups / groupsPerBlock; block += groupSize)
        sum += sumOfBlock(block);
    sum = sumOverGroup(sum);
    if (gl_LocalInvocationIndex != 0) return;
    noteLoss(sum * params.scale, params.step, params.slot);
    finished = 0;
}

void main() {
    loadInputs();
    barrier();
    forward();
    barrier();
    if (loss == lossCrossEntropy) {
        computePowers();
        barrier();
    }
    if (gl_LocalInvocationIndex < rowsPerGroup) lossOfRow(gl_LocalInvocationIndex);
    barrier();
    gradients();
    barrier();
    if (gl_LocalInvocationIndex == 0) {
        for (uint width = rowsPerGroup / 2; width > 0; width /= 2)
            for (uint j = 0; j < width; ++j) rowLosses[j] += rowLosses[j + width];
        partials[gl_WorkGroupID.x] = rowLosses[0];
        memoryBarrierBuffer();
        isLast = atomicAdd(finished, 1) == params.groups - 1 ? 1 : 0;
    }
    backwardInputs();
    barrier();
    if (isLast == 0) return;
    memoryBarrierBuffer();
    meanLoss();
}
