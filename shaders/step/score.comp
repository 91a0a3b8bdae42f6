#version 450
#extension GL_GOOGLE_include_directive : require

// Evaluation of the rows at hand: the workgroup's sum of loss terms goes to sums[slot + group]; counts[0] grows by the rows
// answered rightly, counts[1 + true * classes + answered] by one per row. The answer is the class of the largest output (the
// first among equals), or of the sign of a single one. Integer sums do not depend on the order in which they are taken.
// outputs [rows][stride], contiguous along a row; targets [rows][targetWidth]. One invocation per row.
#include "group_sum.glsl"
#include "params.h"

layout(constant_id = 2) const uint activation = 0; // of the output layer

layout(set = 0, binding = 0) readonly buffer Outputs { float outputs[]; };
layout(set = 0, binding = 1) readonly buffer Targets { uint targets[]; };
layout(set = 0, binding = 2) writeonly buffer Sums { float sums[]; };
layout(set = 0, binding = 3) buffer Counts { uint counts[]; };
layout(push_constant) uniform Params { ScoreParams params; };

float outputValue(uint at) { return outputs[at]; }
uint targetWord(uint at) { return targets[at]; }
#include "loss.glsl"

uint answerOf(uint at) {
    if (params.outputs == 1) return outputs[at] > (activation == activation_sigmoid ? 0.5 : 0.0) ? 1u : 0u;
    uint best = 0;
    for (uint j = 1; j < params.outputs; ++j)
        if (outputs[at + j] > outputs[at + best]) best = j;
    return best;
}

void main() {
    uint row = gl_GlobalInvocationID.x;
    float lossOfRow = 0.0;
    if (row < params.rows) {
        uint at = row * params.stride;
        lossOfRow = rowLoss(at, row, softmaxIfNeeded(at));
        if (params.classes > 0) {
            uint answer = answerOf(at);
            uint label = targets[row];
            if (answer == label) atomicAdd(counts[0], 1);
            atomicAdd(counts[1 + label * params.classes + answer], 1);
        }
    }
    float sum = sumOverGroup(lossOfRow);
    if (gl_LocalInvocationIndex == 0) sums[params.slot + gl_WorkGroupID.x] = sum;
}
