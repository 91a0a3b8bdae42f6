#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// Training steps of a population, a network per workgroup, everything in shared memory, the items of every operation spread over
// the invocations. For shapes whose numbers find no room in registers.
//   shared:  W | dW | the optimizer's state, where it fits | rows of a chunk of the batch | their losses
//   a row:   A[0], A[1], ... | what the outputs are compared with | dZ | Z where kept
// Buffers [parameter][place]. Workgroups: networks.
#include "population_step.glsl"

layout(constant_id = 5) const uint chunk = 1;       // rows of a batch that fit into shared memory at a time
layout(constant_id = 6) const uint sharesState = 1; // 0: the optimizer's state stays in its buffers
layout(constant_id = 8) const uint sharedFloats = 1024;

shared float memory[sharedFloats];

const uint wantedAt = valueCount;
const uint dSumsAt = wantedAt + outputs;
const uint sumsAt = dSumsAt + valueCount;

bool anySums() { return derivativeNeedsSum(hiddenActivation) || derivativeNeedsSum(outputActivation); }
uint rowFloats() { return anySums() ? sumsAt + valueCount : sumsAt; }
uint firstAt() { return 2 * parameterCount; }
uint secondAt() { return firstAt() + (keepsFirst() ? parameterCount : 0); }
uint rowsAt() { return sharesState == 0 ? firstAt() : secondAt() + (keepsSecond() ? parameterCount : 0); }
uint rowAt(uint row) { return rowsAt() + row * rowFloats(); }
uint lossesAt() { return rowAt(chunk); }

// Where a neuron's value lies that its derivative is computed from.
uint savedAt(uint layer, uint at) { return derivativeNeedsSum(activationOf(layer)) ? sumsAt + at : at; }

uint ownRow; // where the row at hand begins
float outputOf(uint j) { return memory[ownRow + answersAt + j]; }
float wantedOf(uint j) { return memory[ownRow + wantedAt + j]; }
#include "population_loss.glsl"

void load(uint place) {
    for (uint p = gl_LocalInvocationIndex; p < parameterCount; p += groupSize) {
        memory[p] = parameters[p * params.places + place];
        if (sharesState == 0) continue;
        if (keepsFirst()) memory[firstAt() + p] = firstState[p * params.places + place];
        if (keepsSecond()) memory[secondAt() + p] = secondState[p * params.places + place];
    }
}

void store(uint place, PopulationState state) {
    for (uint p = gl_LocalInvocationIndex; p < parameterCount; p += groupSize) {
        parameters[p * params.places + place] = memory[p];
        if (sharesState == 0) continue;
        if (keepsFirst()) firstState[p * params.places + place] = memory[firstAt() + p];
        if (keepsSecond()) secondState[p * params.places + place] = memory[secondAt() + p];
    }
    if (gl_LocalInvocationIndex == 0) states[place] = state;
}

// Inputs and what is wanted of rows [begin, begin + rows) of the batch.
void gather(uint step, PopulationRecord record, uint begin, uint rows, uint place, uint firstExample) {
    for (uint item = gl_LocalInvocationIndex; item < rows * exampleQuads; item += groupSize) {
        uint row = item / exampleQuads;
        uint quad = item % exampleQuads;
        uint example = firstExample + exampleOf(step, record, begin + row, place);
        vec4 four = examples[example * exampleQuads + quad];
        [[unroll]] for (uint k = 0; k < 4; ++k) {
            uint at = 4 * quad + k;
            if (at < inputs) memory[rowAt(row) + at] = four[k];
            else if (at < inputs + outputs) memory[rowAt(row) + wantedAt + at - inputs] = four[k];
        }
    }
    barrier();
}

void dense(uint layer, uint ins, uint outs, uint weights, uint from, uint rows) {
    for (uint item = gl_LocalInvocationIndex; item < rows * outs; item += groupSize) {
        uint row = rowAt(item / outs);
        uint o = item % outs;
        float sum = 0.0;
        for (uint i = 0; i < ins; ++i) sum = fma(memory[row + from + i], memory[weights + o * ins + i], sum);
        sum += memory[weights + ins * outs + o];
        if (derivativeNeedsSum(activationOf(layer))) memory[row + sumsAt + from + ins + o] = sum;
        memory[row + from + ins + o] = activateFast(activationOf(layer), sum);
    }
    barrier();
}

void forward(uint rows) {
    dense(0, width0, width1, 0, 0, rows);
    if (layers > 1) dense(1, width1, width2, weights1, width0, rows);
    if (layers > 2) dense(2, width2, width3, weights2, values2, rows);
    if (layers > 3) dense(3, width3, width4, weights3, values3, rows);
    if (layers > 4) dense(4, width4, width5, weights4, values4, rows);
}

void lossAndGradient(float scale, uint rows) {
    for (uint row = gl_LocalInvocationIndex; row < rows; row += groupSize) {
        ownRow = rowAt(row);
        Softmax s = softmaxOfOutputs();
        for (uint j = 0; j < outputs; ++j) {
            float derivative =
                activationDerivative(outputActivation, memory[ownRow + savedAt(layers - 1, answersAt + j)]);
            memory[ownRow + dSumsAt + answersAt + j] = outputGradient(j, s) * derivative * scale;
        }
        memory[lossesAt() + row] = exampleLoss(s);
    }
    barrier();
}

void backwardInputs(uint layer, uint ins, uint outs, uint weights, uint from, uint rows) {
    for (uint item = gl_LocalInvocationIndex; item < rows * ins; item += groupSize) {
        uint row = rowAt(item / ins);
        uint i = item % ins;
        float sum = 0.0;
        for (uint o = 0; o < outs; ++o)
            sum = fma(memory[row + dSumsAt + from + ins + o], memory[weights + o * ins + i], sum);
        float derivative = activationDerivative(activationOf(layer - 1), memory[row + savedAt(layer - 1, from + i)]);
        memory[row + dSumsAt + from + i] = sum * derivative;
    }
    barrier();
}

// Adds to what earlier chunks of the batch have left.
void backwardWeights(uint ins, uint outs, uint weights, uint from, uint rows) {
    for (uint item = gl_LocalInvocationIndex; item < (ins + 1) * outs; item += groupSize) {
        bool bias = item >= ins * outs;
        uint o = bias ? item - ins * outs : item / ins;
        uint at = parameterCount + weights + item;
        float sum = memory[at];
        for (uint row = 0; row < rows; ++row) {
            float dSum = memory[rowAt(row) + dSumsAt + from + ins + o];
            sum = fma(dSum, bias ? 1.0 : memory[rowAt(row) + from + item % ins], sum);
        }
        memory[at] = sum;
    }
}

void backward(uint rows) {
    if (layers > 4) backwardInputs(4, width4, width5, weights4, values4, rows);
    if (layers > 3) backwardInputs(3, width3, width4, weights3, values3, rows);
    if (layers > 2) backwardInputs(2, width2, width3, weights2, values2, rows);
    if (layers > 1) backwardInputs(1, width1, width2, weights1, width0, rows);
    backwardWeights(width0, width1, 0, 0, rows);
    if (layers > 1) backwardWeights(width1, width2, weights1, width0, rows);
    if (layers > 2) backwardWeights(width2, width3, weights2, values2, rows);
    if (layers > 3) backwardWeights(width3, width4, weights3, values3, rows);
    if (layers > 4) backwardWeights(width4, width5, weights4, values4, rows);
    barrier();
}

// Gradients of the batch; returns its loss, the same to all invocations.
float learnFrom(uint step, PopulationRecord record, uint place, uint firstExample) {
    barrier(); // parameters were loaded or updated
    for (uint p = gl_LocalInvocationIndex; p < parameterCount; p += groupSize) memory[parameterCount + p] = 0.0;
    float total = 0.0;
    for (uint begin = 0; begin < record.rows; begin += chunk) {
        uint rows = min(chunk, record.rows - begin);
        gather(step, record, begin, rows, place, firstExample);
        forward(rows);
        lossAndGradient(record.scale, rows);
        for (uint row = 0; row < rows; ++row) total += memory[lossesAt() + row];
        backward(rows);
    }
    return total * record.scale;
}

void update(UpdateParams how, uint place) {
    for (uint p = gl_LocalInvocationIndex; p < parameterCount; p += groupSize) {
        uint far = p * params.places + place;
        bool near = sharesState != 0;
        float one = 0.0;
        float two = 0.0;
        if (keepsFirst()) one = near ? memory[firstAt() + p] : firstState[far];
        if (keepsSecond()) two = near ? memory[secondAt() + p] : secondState[far];
        memory[p] = updated(how, memory[p], memory[parameterCount + p], one, two);
        if (keepsFirst() && near) memory[firstAt() + p] = one;
        if (keepsFirst() && !near) firstState[far] = one;
        if (keepsSecond() && near) memory[secondAt() + p] = two;
        if (keepsSecond() && !near) secondState[far] = two;
    }
}

void main() { train(params.first + gl_WorkGroupID.x); }
