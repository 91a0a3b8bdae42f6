#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// Training steps of a small network from batch to update, many in one dispatch of one workgroup. Parameters, activations and
// gradients of sums live in shared memory; between the operations stands a barrier of the workgroup instead of a dispatch.
// Each sum is added up in the order of the rungs that compute operation by operation.
//   shared:  parameters | A[0], A[1], ... | Z[0], Z[1], ... where kept | dZ[0], dZ[1], ... | losses of the rows
// In shared memory nothing is padded: W[l] [outputs][inputs], then b[l], layer after layer. In the arenas (parameters, state1,
// state2, gradients) every tensor is where engine/net/param_layout.h puts it.
#include "activation.glsl"
#include "order.h"
#include "params.h"
#include "update.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint groupSize = 64;
layout(constant_id = 2) const uint outputActivation = 0;
layout(constant_id = 3) const uint sharedFloats = 1024;
layout(constant_id = 4) const uint hiddenActivation = 0;
layout(constant_id = 5) const uint chunk = 16; // rows of a batch whose activations fit into shared memory at a time
layout(constant_id = 9) const uint layers = 1;
layout(constant_id = 10) const uint width0 = 1; // of the inputs, then of every layer's outputs
layout(constant_id = 11) const uint width1 = 1;
layout(constant_id = 12) const uint width2 = 0;
layout(constant_id = 13) const uint width3 = 0;
layout(constant_id = 14) const uint width4 = 0;
layout(constant_id = 15) const uint width5 = 0;
layout(constant_id = 16) const uint width6 = 0;
layout(constant_id = 17) const uint width7 = 0;
layout(constant_id = 18) const uint width8 = 0;

layout(set = 0, binding = 0) readonly buffer Source { uint source[]; };
layout(set = 0, binding = 1) readonly buffer Answers { uint answers[]; };
layout(set = 0, binding = 2) readonly buffer Records { StepRecord records[]; };
layout(set = 0, binding = 3) writeonly buffer Losses { float losses[]; };
layout(set = 0, binding = 4) buffer Status { uint failedStep; };
layout(set = 0, binding = 5) buffer Parameters { float parameters[]; };
layout(set = 0, binding = 6) buffer State1 { float state1[]; };
layout(set = 0, binding = 7) buffer State2 { float state2[]; };
layout(set = 0, binding = 8) buffer Gradients { float gradients[]; }; // of earlier chunks of a batch
layout(push_constant) uniform Params { WholeStepParams params; };

shared float memory[sharedFloats];
shared uint examples[chunk];    // of the rows of the chunk
shared uint failed;

float outputValue(uint at) { return memory[at]; }
uint targetWord(uint at) { return answers[at]; }
#include "loss.glsl"

uint widthOf(uint level) {
    return level == 0   ? width0
           : level == 1 ? width1
           : level == 2 ? width2
           : level == 3 ? width3
           : level == 4 ? width4
           : level == 5 ? width5
           : level == 6 ? width6
           : level == 7 ? width7
                        : width8;
}

uint activationOf(uint layer) { return layer + 1 == layers ? outputActivation : hiddenActivation; }

bool keepsSums(uint layer) { return derivativeNeedsSum(activationOf(layer)); }

// Places in shared memory: of W[layer]; of A[level] [chunk][width]; of what the derivative is computed from; of dZ[layer].
uint weightsAt(uint layer) {
    uint at = 0;
    [[unroll]] for (uint below = 0; below < layers; ++below)
        if (below < layer) at += (widthOf(below) + 1) * widthOf(below + 1);
    return at;
}
uint before(uint level) { // rows of all levels below, together
    uint floats = 0;
    [[unroll]] for (uint below = 0; below <= layers; ++below)
        if (below < level) floats += widthOf(below);
    return floats * chunk;
}
uint activationsAt(uint level) { return weightsAt(layers) + before(level); }
uint sumsAt(uint layer) { return activationsAt(layers + 1) + before(layer + 1) - before(1); }
uint savedAt(uint layer) { return keepsSums(layer) ? sumsAt(layer) : activationsAt(layer + 1); }
uint dSumsAt(uint layer) {
    bool sums = derivativeNeedsSum(hiddenActivation) || derivativeNeedsSum(outputActivation);
    return sumsAt(layer) + (sums ? before(layers + 1) - before(1) : 0);
}
uint lossesAt() { return sharedFloats - chunk; } // of every row

uint roundUp(uint value, uint to) { return (value + to - 1) / to * to; }

float sourceValue(uint example, uint i) {
    if (params.pixels == 0) return uintBitsToFloat(source[example * params.sourceStride + i]);
    uint word = source[example * params.sourceStride + i / 4];
    return float(bitfieldExtract(word, int(i % 4 * 8), 8)) * (1.0 / 255.0);
}

// All invocations go through the parameters of the network together. What they do at each: 0 load it, 1 store it.
void copyParameters(bool store) {
    uint own = 0;   // in shared memory
    uint arena = 0; // in the buffers
    [[unroll]] for (uint layer = 0; layer < layers; ++layer) {
        uint ins = widthOf(layer);
        uint outs = widthOf(layer + 1);
        uint stride = roundUp(ins, 4);
        for (uint at = gl_LocalInvocationIndex; at < ins * outs; at += groupSize) {
            uint far = arena + at / ins * stride + at % ins;
            if (store) parameters[far] = memory[own + at];
            else memory[own + at] = parameters[far];
        }
        own += ins * outs;
        arena += roundUp(stride * outs, 64);
        for (uint o = gl_LocalInvocationIndex; o < outs; o += groupSize) {
            if (store) parameters[arena + o] = memory[own + o];
            else memory[own + o] = parameters[arena + o];
        }
        own += outs;
        arena += roundUp(roundUp(outs, 4), 64);
    }
}

void gather(StepRecord record, uint first, uint rows) {
    uint ins = widthOf(0);
    uint to = activationsAt(0);
    for (uint item = gl_LocalInvocationIndex; item < rows * ins; item += groupSize) {
        uint position = record.first + first + item / ins;
        uint example = params.shuffle != 0 ? orderIndex(position, params.count, record.keys) : position;
        if (item % ins == 0) examples[item / ins] = example;
        memory[to + item] = sourceValue(example, item % ins);
    }
    barrier();
}

void dense(uint layer, uint weights, uint rows) {
    uint ins = widthOf(layer);
    uint outs = widthOf(layer + 1);
    uint from = activationsAt(layer);
    uint to = activationsAt(layer + 1);
    uint bias = weights + ins * outs;
    for (uint item = gl_LocalInvocationIndex; item < rows * outs; item += groupSize) {
        uint row = item / outs;
        uint o = item % outs;
        float sum = 0.0;
        for (uint i = 0; i < ins; ++i) sum = fma(memory[from + row * ins + i], memory[weights + o * ins + i], sum);
        sum += memory[bias + o];
        if (keepsSums(layer)) memory[savedAt(layer) + item] = sum;
        memory[to + item] = activate(activationOf(layer), sum);
    }
    barrier();
}

float lossOfChunk; // of the first invocation: the sum over the rows so far

void lossAndGradient(StepRecord record, uint rows) {
    uint last = layers - 1;
    uint outs = params.outputs;
    uint answersAt = activationsAt(layers);
    uint to = dSumsAt(last);
    uint saved = savedAt(last);
    for (uint row = gl_LocalInvocationIndex; row < rows; row += groupSize) {
        uint at = answersAt + row * outs;
        Softmax s = softmaxIfNeeded(at);
        for (uint j = 0; j < outs; ++j) {
            float derivative = activationDerivative(outputActivation, memory[saved + row * outs + j]);
            memory[to + row * outs + j] = outputGradient(at, examples[row], j, s, derivative) * record.scale;
        }
        memory[lossesAt() + row] = rowLoss(at, examples[row], s);
    }
    barrier();
}

// By the first invocation: as a tree, in the order of loss_and_gradient.comp.
void sumLoss(uint rows) {
    uint begin = lossesAt();
    uint width = 1;
    while (width < rows) width *= 2;
    for (width /= 2; width > 0; width /= 2)
        for (uint row = 0; row < width && row + width < rows; ++row)
            memory[begin + row] += memory[begin + row + width];
    lossOfChunk += memory[begin];
}

void denseBackwardInputs(uint layer, uint weights, uint rows) {
    uint ins = widthOf(layer);
    uint outs = widthOf(layer + 1);
    uint from = dSumsAt(layer);
    uint to = dSumsAt(layer - 1);
    uint saved = savedAt(layer - 1);
    for (uint item = gl_LocalInvocationIndex; item < rows * ins; item += groupSize) {
        uint row = item / ins;
        uint i = item % ins;
        float sum = 0.0;
        for (uint o = 0; o < outs; ++o) sum = fma(memory[from + row * outs + o], memory[weights + o * ins + i], sum);
        memory[to + item] = sum * activationDerivative(activationOf(layer - 1), memory[saved + item]);
    }
    barrier();
}

// The gradient so far goes on with what earlier chunks of the batch left, and either ends here or is left for the next.
float continued(float gradient, uint arena, bool firstChunk) { return firstChunk ? gradient : gradient + gradients[arena]; }

void learn(StepRecord record, uint own, uint arena, float gradient) {
    vec4 first = vec4(keepsFirst() ? state1[arena] : 0.0);
    vec4 second = vec4(keepsSecond() ? state2[arena] : 0.0);
    memory[own] = updated(record.update, vec4(memory[own]), vec4(gradient), first, second).x;
    if (keepsFirst()) state1[arena] = first.x;
    if (keepsSecond()) state2[arena] = second.x;
}

void end(StepRecord record, uint own, uint arena, float gradient, bool firstChunk, bool lastChunk) {
    float sum = continued(gradient, arena, firstChunk);
    if (!lastChunk) gradients[arena] = sum;
    else if (failed == 0) learn(record, own, arena, sum);
}

void denseBackwardWeights(StepRecord record, uint rows, bool firstChunk, bool lastChunk) {
    uint own = 0;
    uint arena = 0;
    [[unroll]] for (uint layer = 0; layer < layers; ++layer) {
        uint ins = widthOf(layer);
        uint outs = widthOf(layer + 1);
        uint stride = roundUp(ins, 4);
        uint inputs = activationsAt(layer);
        uint dSums = dSumsAt(layer);
        for (uint at = gl_LocalInvocationIndex; at < ins * outs; at += groupSize) {
            uint o = at / ins;
            uint i = at % ins;
            float sum = 0.0;
            for (uint row = 0; row < rows; ++row)
                sum = fma(memory[dSums + row * outs + o], memory[inputs + row * ins + i], sum);
            end(record, own + at, arena + o * stride + i, sum, firstChunk, lastChunk);
        }
        own += ins * outs;
        arena += roundUp(stride * outs, 64);
        for (uint o = gl_LocalInvocationIndex; o < outs; o += groupSize) {
            float sum = 0.0;
            for (uint row = 0; row < rows; ++row) sum += memory[dSums + row * outs + o];
            end(record, own + o, arena + o, sum, firstChunk, lastChunk);
        }
        own += outs;
        arena += roundUp(roundUp(outs, 4), 64);
    }
    barrier();
}

void noteLoss(StepRecord record) {
    float value = lossOfChunk * record.scale;
    losses[record.slot] = value;
    if (isNotFinite(value) && failedStep == noStep) failedStep = record.step;
    failed = failedStep == noStep ? 0 : 1;
}

void main() {
    copyParameters(false);
    barrier();
    for (uint index = 0; index < params.steps; ++index) {
        StepRecord record = records[params.firstRecord + index];
        lossOfChunk = 0.0;
        for (uint first = 0; first < record.rows; first += chunk) {
            uint rows = min(chunk, record.rows - first);
            bool lastChunk = first + rows == record.rows;
            gather(record, first, rows);
            [[unroll]] for (uint layer = 0; layer < layers; ++layer) dense(layer, weightsAt(layer), rows);
            lossAndGradient(record, rows);
            if (gl_LocalInvocationIndex == 0) {
                sumLoss(rows);
                if (lastChunk) noteLoss(record);
            }
            barrier();
            [[unroll]] for (uint above = 0; above + 1 < layers; ++above)
                denseBackwardInputs(layers - 1 - above, weightsAt(layers - 1 - above), rows);
            denseBackwardWeights(record, rows, first == 0, lastChunk);
        }
    }
    copyParameters(true);
}
