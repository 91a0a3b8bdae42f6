#version 450
#extension GL_GOOGLE_include_directive : require

// One optimizer step on all parameters, with g = gradient + l2 w + l1 sign(w), as torch.optim (engine/net/plain_ops.h has the
// formulas). The arrays are whole arenas [count], contiguous; state1 is momentum (or RMSprop's mean square), state2 Adam's
// second moment. Does nothing once a step's loss was not finite. x: vec4s.
#include "params.h"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint optimizer = 0;

layout(set = 0, binding = 0) readonly buffer Status { uint failedStep; };
layout(set = 0, binding = 1) readonly buffer Gradients { vec4 gradients[]; };
layout(set = 0, binding = 2) buffer Weights { vec4 weights[]; };
layout(set = 0, binding = 3) buffer State1 { vec4 state1[]; };
layout(set = 0, binding = 4) buffer State2 { vec4 state2[]; };
layout(push_constant) uniform Params { UpdateParams params; };

void updateFour(uint at) {
    vec4 w = weights[at];
    vec4 g = gradients[at] + params.l2 * w + params.l1 * sign(w);
    if (optimizer == optimizerSgd) {
        w -= params.learningRate * g;
    } else if (optimizer == optimizerMomentum) {
        vec4 m = params.momentum * state1[at] + g;
        state1[at] = m;
        w -= params.learningRate * (params.nesterov != 0 ? g + params.momentum * m : m);
    } else if (optimizer == optimizerRmsprop) {
        vec4 v = params.secondDecay * state1[at] + (1.0 - params.secondDecay) * g * g;
        state1[at] = v;
        w -= params.learningRate * g / (sqrt(v) + params.epsilon);
    } else {
        w *= params.weightKeep;
        vec4 m = params.momentum * state1[at] + (1.0 - params.momentum) * g;
        vec4 v = params.secondDecay * state2[at] + (1.0 - params.secondDecay) * g * g;
        state1[at] = m;
        state2[at] = v;
        w -= params.learningRate * m / (sqrt(v) * params.secondScale + params.epsilon);
    }
    weights[at] = w;
}

void main() {
    if (failedStep != noStep) return;
    // A dispatch has at most as many workgroups as the device allows; beyond that, each invocation takes several vec4s.
    for (uint at = gl_GlobalInvocationID.x; at * 4 < params.count; at += params.stride)
        updateFour(at);
}
