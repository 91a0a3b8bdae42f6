#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// A network per invocation, its weights and gradients in registers, trained by gradient descent on all examples:
//   z[h] = sum_i first[h][i] x[i],   f = activation(z),   error = sum_h second[h] f[h] / hidden - target
//   dSecond[h] = sum_examples error f[h],   dFirst[h][i] = sum_examples error second[h] f'(z[h]) x[i]
//   second -= secondStep dSecond,   first -= firstStep dFirst,   loss = sum_examples error^2
// over steps [begin, end); the state of each network waits in memory for the next dispatch. The learning rates' factors are in
// firstStep and secondStep. Every sum is one of fused multiply-adds in the order of the plain loops.
//   examples [examples][exampleVec4s]: inputs, then the target; behind them the weights that all networks start from,
//            [hidden][inputs] and [hidden]
//   state    [value][capacity]: first, second, then what is noted of the losses; contiguous from network to network
// x: networks.
#include "params.h"
#include "tanh.h"
#include "trainability_params.h"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint inputs = 8;
layout(constant_id = 2) const uint hidden = 8;
layout(constant_id = 3) const uint activation = 5; // identity, relu or tanh

const uint exampleVec4s = inputs / 4 + 1;

layout(set = 0, binding = 0) readonly buffer Examples { vec4 examples[]; };
layout(set = 0, binding = 1) readonly buffer Starts { TrainabilityStart starts[]; };
layout(set = 0, binding = 2) buffer State { float state[]; };
layout(set = 0, binding = 3) writeonly buffer Ends { TrainabilityEnd ends[]; };
layout(push_constant) uniform Params { TrainabilityParams params; };

float first[hidden * inputs];
float second[hidden];
float dFirst[hidden * inputs];
float dSecond[hidden];

// What is noted of the losses.
float firstLoss; // below 0: the network has diverged
float before;
float sum;
float last;

uint network() { return gl_GlobalInvocationID.x; }

uint at(uint value) { return value * params.capacity + network(); }
const uint noted = hidden * inputs + hidden;

void load() {
    [[unroll]] for (uint k = 0; k < hidden * inputs; ++k) first[k] = state[at(k)];
    [[unroll]] for (uint h = 0; h < hidden; ++h) second[h] = state[at(hidden * inputs + h)];
    firstLoss = state[at(noted)];
    before = state[at(noted + 1)];
    sum = state[at(noted + 2)];
    last = state[at(noted + 3)];
}

void save() {
    [[unroll]] for (uint k = 0; k < hidden * inputs; ++k) state[at(k)] = first[k];
    [[unroll]] for (uint h = 0; h < hidden; ++h) state[at(hidden * inputs + h)] = second[h];
    state[at(noted)] = firstLoss;
    state[at(noted + 1)] = before;
    state[at(noted + 2)] = sum;
    state[at(noted + 3)] = last;
}

float commonWeight(uint k) { return examples[params.examples * exampleVec4s + k / 4][k % 4]; }

void begin() {
    float scale = starts[network()].scale;
    [[unroll]] for (uint k = 0; k < hidden * inputs; ++k) first[k] = commonWeight(k) * scale;
    [[unroll]] for (uint h = 0; h < hidden; ++h) second[h] = commonWeight(hidden * inputs + h) * scale;
    firstLoss = 0.0;
    before = 0.0;
    sum = 0.0;
    last = 0.0;
}

// x P(x^2) / Q(x^2)
float quotientTanh(float x) {
    x = x > tanhLimit ? tanhLimit : x; // a NaN stays one
    x = x < -tanhLimit ? -tanhLimit : x;
    float u = x * x;
    float p = fma(tanhP4, u, tanhP3);
    p = fma(p, u, tanhP2);
    p = fma(p, u, tanhP1);
    p = fma(p, u, tanhP0);
    float q = fma(tanhQ4, u, tanhQ3);
    q = fma(q, u, tanhQ2);
    q = fma(q, u, tanhQ1);
    q = fma(q, u, 1.0);
    return x * p / q;
}

float activated(float z) {
    if (activation == activationTanh) return quotientTanh(z);
    return activation == activationRelu && z < 0.0 ? 0.0 : z;
}

// d f'(z), from f(z).
float derived(float d, float value) {
    if (activation == activationTanh) return d * fma(-value, value, 1.0);
    return activation == activationRelu && !(value > 0.0) ? 0.0 : d;
}

// Adds an example's part to the gradients; returns its error.
float learn(uint example) {
    float x[exampleVec4s * 4];
    [[unroll]] for (uint k = 0; k < exampleVec4s; ++k) {
        vec4 four = examples[example * exampleVec4s + k];
        [[unroll]] for (uint j = 0; j < 4; ++j) x[4 * k + j] = four[j];
    }
    float values[hidden];
    float answer = 0.0;
    [[unroll]] for (uint h = 0; h < hidden; ++h) {
        float z = 0.0;
        [[unroll]] for (uint i = 0; i < inputs; ++i) z = fma(first[h * inputs + i], x[i], z);
        values[h] = activated(z);
        answer = fma(second[h], values[h], answer);
    }
    float error = fma(answer, 1.0 / float(hidden), -x[inputs]);
    [[unroll]] for (uint h = 0; h < hidden; ++h) {
        dSecond[h] = fma(error, values[h], dSecond[h]);
        float d = derived(error * second[h], values[h]);
        [[unroll]] for (uint i = 0; i < inputs; ++i) dFirst[h * inputs + i] = fma(d, x[i], dFirst[h * inputs + i]);
    }
    return error;
}

float lossAndGradient() {
    [[unroll]] for (uint k = 0; k < hidden * inputs; ++k) dFirst[k] = 0.0;
    [[unroll]] for (uint h = 0; h < hidden; ++h) dSecond[h] = 0.0;
    float squares = 0.0;
    [[dont_unroll]] for (uint example = 0; example < params.examples; ++example) {
        float error = learn(example);
        squares = fma(error, error, squares);
    }
    return squares;
}

void update(float firstStep, float secondStep) {
    [[unroll]] for (uint k = 0; k < hidden * inputs; ++k) first[k] = fma(-firstStep, dFirst[k], first[k]);
    [[unroll]] for (uint h = 0; h < hidden; ++h) second[h] = fma(-secondStep, dSecond[h], second[h]);
}

// Whether the loss is below what counts as divergence; a NaN is not.
bool within(float loss, uint step) {
    return loss <= (step == 0 ? trainabilityLargest : min(firstLoss * trainabilityLimit, trainabilityLargest));
}

void note(float loss, uint step) {
    if (step == 0) firstLoss = loss;
    sum += loss;
    if (step >= params.steps - params.tail) last += loss;
    before = loss;
}

void main() {
    if (network() >= params.networks) return;
    if (params.begin == 0) begin();
    else load();
    if (firstLoss < 0.0) return;
    TrainabilityStart start = starts[network()];
    [[dont_unroll]] for (uint step = params.begin; step < params.end; ++step) {
        float loss = lossAndGradient();
        if (!within(loss, step)) {
            ends[network()] = TrainabilityEnd(step, firstLoss, before, loss);
            firstLoss = -1.0;
            break;
        }
        note(loss, step);
        update(start.firstStep, start.secondStep);
    }
    if (params.end < params.steps) save();
    else if (firstLoss >= 0.0) ends[network()] = TrainabilityEnd(params.steps, firstLoss, sum, last);
}
